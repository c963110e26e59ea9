"""Asking in words: the settings of the study on comments, or a forced choice on CATs and pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer import catalog
from stereometer.benchmarks.benchmark import Benchmark
from stereometer.benchmarks.comments import Columns, columns_from, read_own
from stereometer.errors import UsageError
from stereometer.runs.execute import execute_all
from stereometer.runs.measure import job_for
from stereometer.runs.open import open_benchmark, open_model
from stereometer.shapes.comment.settings import STUDY, setting_of
from stereometer.types import Backend, Job, Result, Settings, System

CHOICES = {"cat": "cat-forced-choice", "pair": "pair-forced-choice"}


def ask(
    benchmark: str,
    *,
    model: str,
    setting: str | Sequence[str] = STUDY,
    columns: Mapping[str, str] | None = None,
    categories: Mapping[str, str] | Sequence[str] = (),
    neither: str = "neither",
    variant: str = "sound",
    data: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    coverage: float = 0.90,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    **how: Any,
) -> list[Result]:
    """Ask a model in words: settings of the study on comments, or a forced choice on CATs and
    pairs.

    `columns` says what a table of your own calls its parts, such as {"comment": "text", "label":
    "gold"}; `categories` are its columns of scores or its labels, with the word for each where it
    is another. Further keywords are the options of recognition: repeats, temperature, chat, system,
    likelihood, templates, size, sample, threshold, edits.
    """
    words = (
        dict(categories) if isinstance(categories, Mapping) else {name: name for name in categories}
    )
    settings = Settings(variant, seed, resamples, coverage=coverage)  # type: ignore[arg-type]
    own = columns_from(
        [f"{name}={column}" for name, column in (columns or {}).items()], list(words), neither
    )
    comments = open_comments(benchmark, Path(data) if data else None, own)
    asked = backend_of(open_model(model, seed, options))
    names = [setting] if isinstance(setting, str) else setting
    jobs = list(jobs_for(comments, names, asked, settings, {**how, "categories": words}, limit))
    return [finished.result for finished in execute_all(jobs, out)]


def open_comments(name: str, data: Path | None, columns: Columns) -> Benchmark:
    """A benchmark by name, or a user's own table of comments by path."""
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
    """Recognition where the set has comments, otherwise forced choice."""
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
