"""Asking in words: the settings of the study on comments, or a forced choice on CATs and pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from stereometer import catalog
from stereometer.benchmarks.abc import survey
from stereometer.benchmarks.benchmark import Benchmark
from stereometer.benchmarks.comments import Columns, columns_from, read_own
from stereometer.errors import UsageError
from stereometer.runs.engines.pool.choice import Engines, hands
from stereometer.runs.execute import execute_all
from stereometer.runs.measure import job_for
from stereometer.runs.models import Model, ModelOptions, check_known, opened
from stereometer.runs.open import open_benchmark
from stereometer.shapes.comment.settings import STUDY, setting_of
from stereometer.types import Backend, Job, Result, Settings, System, Variant


class AskOptions(ModelOptions, total=False):
    """How comments are drawn and asked about, beside the options of the model."""

    repeats: int
    temperature: float
    sample: str
    size: int
    threshold: float
    templates: str | Path | None
    edits: str | Path | None
    chat: bool | None
    system: str
    likelihood: bool
    scales: int


SURVEY_OPTIONS = ("repeats", "temperature", "scales", "system")
CHOICES = {"cat": "cat-forced-choice", "pair": "pair-forced-choice"}


def ask(
    benchmark: str,
    *,
    model: Model,
    setting: str | Sequence[str] = STUDY,
    column: Mapping[str, str] | None = None,
    category: Mapping[str, str] | Sequence[str] = (),
    neither: str = "neither",
    variant: Variant = "sound",
    data: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    coverage: float = 0.90,
    out: str | Path | None = None,
    cache: bool = True,
    workers: int | str | None = None,
    gpus_per_worker: int | None = None,
    **options: Unpack[AskOptions],
) -> list[Result]:
    """Ask a model in words: settings of the study on comments, or a forced choice on CATs and
    pairs.

    - `benchmark`: ethos, a table of your own comments, a set of CATs or pairs, survey, or the
      folder of a survey of your own.
    - `model`: as for `run`; it must be one that writes.
    - `setting`: one or several settings of the study; by default all of its own.
    - `column`: what a table of your own calls its parts: {"comment": "text", "label": "gold"}.
    - `category`: its columns of scores or its labels, with the word for each if it is another.
    - `neither`: the label of its comments of no category.
    - `options`: repeats, temperature, sample, size, threshold, templates, edits, chat, system,
      likelihood, scales, and those of the model, as on the command line.

    Everything else is as for `run`.
    """
    check_known(options, AskOptions.__annotations__)
    words = dict(category) if isinstance(category, Mapping) else {name: name for name in category}
    settings = Settings(variant, seed, resamples, coverage=coverage)
    own = columns_from(
        [f"{name}={column_name}" for name, column_name in (column or {}).items()],
        list(words),
        neither,
    )
    comments = open_comments(benchmark, Path(data) if data else None, own)
    names = [setting] if isinstance(setting, str) else setting
    loading = {key: value for key, value in options.items() if key in ModelOptions.__annotations__}
    how = {key: value for key, value in options.items() if key not in loading}
    with (
        Engines(hands(workers, gpus_per_worker)) as engines,
        opened(model, seed, loading, engines) as answering,
    ):
        asked = backend_of(answering)
        jobs = list(jobs_for(comments, names, asked, settings, {**how, "categories": words}, limit))
        return [finished.result for finished in execute_all(jobs, out, cache, engines=engines)]


def open_comments(name: str, data: Path | None, columns: Columns) -> Benchmark:
    """A benchmark by name, or a user's own table of comments by path."""
    if survey.is_study(Path(name)):
        return survey.of_study(Path(name))
    if not catalog.has("benchmark", name) and Path(name).exists():
        return read_own(Path(name), columns)
    return open_benchmark(name, data)


def backend_of(model: Backend | System) -> Backend:
    """The model, where it is one that can be asked."""
    if isinstance(model, System):
        raise UsageError(
            f"{model.card.name} is a baseline that reads the gold labels of other sets. "
            "It cannot be asked in words. Name a model."
        )
    return model


def jobs_for(
    benchmark: Benchmark,
    settings_named: Sequence[str],
    model: Backend,
    settings: Settings,
    options: Mapping[str, Any],
    limit: int | None = None,
) -> Iterator[Job]:
    """A survey's pages; recognition where the set has comments; otherwise forced choice."""
    if survey.SHAPE in benchmark.shapes:
        chat = True if options.get("chat") else None
        how = {name: options[name] for name in SURVEY_OPTIONS if name in options}
        how |= {"chat": chat, "wording": survey.wording_of(benchmark)}
        yield job_for(benchmark, survey.SHAPE, ["survey"], model, settings, limit, how)
        return
    options = {name: value for name, value in options.items() if name != "scales"}
    if "comment" in benchmark.shapes:
        if not options.get("categories"):
            options = {name: value for name, value in options.items() if name != "categories"}
        for setting in [setting_of(name) for name in settings_named]:
            measures = [f"recognition-{setting.name}"]
            yield job_for(benchmark, "comment", measures, model, settings, limit, options)
        return
    yield from _choice_jobs(benchmark, model, settings, options, limit)


def _choice_jobs(
    benchmark: Benchmark,
    model: Backend,
    settings: Settings,
    options: Mapping[str, Any],
    limit: int | None,
) -> Iterator[Job]:
    """Forced choice on each shape of a set, and the likelihoods beside it where asked for."""
    shapes = [
        shape for shape in benchmark.shapes if shape in CHOICES and shape in benchmark.measures
    ]
    if not shapes:
        raise UsageError(
            f"{benchmark.name} has no comments, CATs or pairs. "
            "Only those can be asked about in words. Name another set."
        )
    how = {"system": options.get("system", ""), "chat": True if options.get("chat") else None}
    for shape in shapes:
        yield job_for(benchmark, shape, [CHOICES[shape]], model, settings, limit, how)
        if options.get("likelihood"):
            yield job_for(benchmark, shape, benchmark.measures[shape], model, settings, limit)
