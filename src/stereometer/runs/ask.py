"""Asking in words: the settings of the study on comments, or a forced choice on CATs and pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Unpack

from stereometer import catalog
from stereometer.benchmarks.abc import survey
from stereometer.benchmarks.benchmark import Benchmark
from stereometer.benchmarks.comments import Columns, columns_from, read_own
from stereometer.errors import UnknownName, UsageError
from stereometer.runs.engines.pool.choice import Engines, hands
from stereometer.runs.execute import execute_all
from stereometer.runs.measure import job_for
from stereometer.runs.models import Model, ModelOptions, check_known, opened
from stereometer.runs.open import open_benchmark
from stereometer.runs.progress import Watch
from stereometer.shapes.comment.settings import STUDY
from stereometer.types import Backend, Job, Method, Settings, System, Variant
from stereometer.types.results import Results


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
    progress: Watch | bool = True,
    **options: Unpack[AskOptions],
) -> Results:
    """Ask a model in words: settings of the study on comments, or a forced choice on CATs and
    pairs.

    - `benchmark`: ethos, a table of your own comments, a set of CATs or pairs, survey, or the
      folder of a survey of your own.
    - `model`: as for `run`; it must be one that writes.
    - `setting`: one or several settings of the study; by default all of its own.
    - `column`: what a table of your own calls its parts: {"comment": "text", "label": "gold"}.
    - `category`: its columns of scores or its labels, with the word for each if it is another.
    - `neither`: the label of its comments of no category.
    - `chat`: as a conversation, through the model's chat template, or as raw text; by default a
      conversation where the model has a template, except like the paper and for likelihoods.
    - `options`: repeats, temperature, sample, size, threshold, templates, edits, chat, system,
      likelihood, scales, and those of the model, as on the command line.

    Everything else is as for `run`.
    """
    check_known(options, AskOptions.__annotations__, ask)
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
        return Results(done.result for done in execute_all(jobs, out, cache, progress, engines))


def open_comments(name: str, data: Path | None, columns: Columns) -> Benchmark:
    """A benchmark by name, or a user's own table of comments by path."""
    if (Path(name) / "study.toml").is_file():
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
    """Of each shape, the methods that ask in words: those of the settings named, and those that
    have none; with `likelihood` the benchmark's own measures beside them."""
    methods = {
        name: method for shape in benchmark.shapes for name, method in _in_words(shape).items()
    }
    if not methods:
        raise UsageError(
            f"{benchmark.name} has no comments, CATs or pairs. "
            "Only those can be asked about in words. Name another set."
        )
    # What is not asked for is left to the method or the benchmark.
    asked = {name: value for name, value in options.items() if value is not None and value != {}}
    for name in _under(methods, settings_named):
        shape, known = methods[name].reads, {field.name for field in fields(methods[name].options)}
        how = {option: value for option, value in asked.items() if option in known}
        yield job_for(benchmark, shape, [name], model, settings, limit, how)
        own = benchmark.measures.get(shape, ())
        beside = own and name not in own and "likelihood" not in known
        if beside and options.get("likelihood"):
            yield job_for(benchmark, shape, own, model, settings, limit)


def _in_words(shape: str) -> dict[str, Method]:
    methods = {name: catalog.find("method", name) for name in catalog.names("method")}
    return {
        name: method
        for name, method in methods.items()
        if method.in_words and method.reads == shape
    }


def _under(methods: Mapping[str, Method], settings_named: Sequence[str]) -> Iterator[str]:
    """In the order of the settings, then those that have none."""
    known = {method.setting: name for name, method in methods.items() if method.setting}
    for setting in settings_named if known else ():
        if setting not in known:
            raise UnknownName("setting", setting, known)
        yield known[setting]
    yield from (name for name, method in methods.items() if not method.setting)
