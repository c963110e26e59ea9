"""Measuring models on benchmarks: which jobs there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.runs.job import Measurement, limited, with_ties
from stereometer.core.runs.open import open_benchmark
from stereometer.core.tables import PLAIN, Layout
from stereometer.core.types import (
    Asking,
    Backend,
    Job,
    Measure,
    Method,
    ModelCard,
    Scorer,
    Settings,
)
from stereometer.core.types.names import MeasureName

RAW_TEXT = "Likelihoods are of raw text: no chat template is applied."
"""Said where a model has a template."""


def names_of(benchmarks: Sequence[object]) -> list[str]:
    """Of separate arguments, each a name or a path."""
    for benchmark in benchmarks:
        if not isinstance(benchmark, str | Path):
            names = benchmark if isinstance(benchmark, Iterable) else ("starter",)
            example = ", ".join(repr(str(name)) for name in names)
            raise UsageError(
                f"A {type(benchmark).__name__} is not a benchmark. Each benchmark is an argument "
                f"of its own. Write run({example}, model=...)."
            )
    if not benchmarks:
        raise UsageError(
            "No benchmark was named. There is nothing to measure on. Write run('starter', "
            "model=...); `stereometer list` shows all names."
        )
    return [str(benchmark) for benchmark in benchmarks]


def by_benchmark(
    names: Sequence[str], measures: Sequence[str], like_paper: bool
) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Benchmarks that are measured the same way together; like its paper each has its own."""
    if not like_paper:
        return [(names, measures)]
    if measures:
        raise UsageError(
            "--like-paper and --measure were both given. Like the paper means its own measure. "
            "Leave one of them out."
        )
    return [([name], _published(name)) for name in names]


def _published(name: str) -> Sequence[str]:
    """The methods of the benchmark's paper."""
    source = catalog.find("benchmark", name) if catalog.has("benchmark", name) else None
    methods: Sequence[str] = source.published if source else ()
    if not methods:
        known = catalog.names("benchmark")
        others = [each for each in known if catalog.find("benchmark", each).published]
        raise UsageError(
            f"No paper printed numbers of a measure on {name}. Benchmarks with such a paper are "
            f"{', '.join(others)}. Leave --like-paper out."
        )
    return methods


def jobs_for(
    names: Sequence[str],
    model: Backend | Scorer,
    measures: Sequence[str],
    settings: Settings,
    data: str | Path | None = None,
    limit: int | None = None,
    options: Mapping[str, Any] | None = None,
    choice: object | None = None,
    called: str | None = None,
    layout: Layout = PLAIN,
) -> Iterator[Job]:
    """A job for each benchmark and shape that has a measure; `called` renames the model."""
    if data is not None and len(names) > 1:
        raise UsageError(
            "--data names one file. With several benchmarks it is not clear whose it is. "
            "Run them one at a time."
        )
    for benchmark in [open_benchmark(name, data, choice, layout) for name in names]:
        for shape, candidates in _chosen(benchmark, measures):
            yield job_for(benchmark, shape, candidates, model, settings, limit, options, called)


def _chosen(benchmark: Benchmark, measures: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    """Shape and candidate measures: those asked for, or the benchmark's defaults for each shape it
    has."""
    asked: list[tuple[str, Sequence[str]]] = [
        (catalog.find("method", name).reads, [name]) for name in measures
    ]
    wanted = asked or benchmark.measures.items()
    return [(shape, names) for shape, names in wanted if shape in benchmark.shapes] or asked


def job_for(
    benchmark: Benchmark,
    shape: str,
    measures: Sequence[str],
    model: Backend | Scorer,
    settings: Settings,
    limit: int | None = None,
    options: Mapping[str, Any] | None = None,
    called: str | None = None,
) -> Job:
    """One benchmark under the first of the measures that the model can answer."""
    items = benchmark.items(shape)
    card = replace(model.card, name=called) if called else model.card
    methods: list[Method] = [catalog.find("method", name) for name in measures]
    for method in methods:
        if settings.variant not in method.variants:
            raise UsageError(
                f"{method.name} has no variant '{settings.variant}'. "
                f"It has {' and '.join(method.variants)}. Choose one of those."
            )
    if isinstance(model, Scorer):
        return _system_job(benchmark, shape, methods[0], model, card, settings, limit)
    method, measure = _first_answerable(methods, model, settings, options or {}, benchmark.defaults)
    settings = with_ties(settings, "computed", method)
    items, notes = measure.items(items)
    if model.abilities.chat_template and not method.in_words:
        notes = (*notes, RAW_TEXT)
    cautions = model.abilities.cautions if settings.variant == "paper" else ()
    drawn = limited(items, limit)
    limit = None if drawn is items else limit
    measurement = Measurement(
        benchmark,
        drawn,
        measure.name,
        card,
        "computed",
        settings,
        limit,
        (*cautions, *notes),
        measure.recorded,
        of=len(items),
    )
    asking = Asking(drawn, measure, model)
    return measurement.job(catalog.shape(method.kind), asking, measure.summarize)


def _system_job(
    benchmark: Benchmark,
    shape: str,
    method: Method,
    system: Scorer,
    card: ModelCard,
    settings: Settings,
    limit: int | None,
) -> Job:
    """Scores that need no asking, under the name of the measure that a model would have been asked
    for."""
    counted = catalog.shape(method.kind)
    if not counted.candidates:
        raise UsageError(
            f"{system.card.name} has no scores for {benchmark.name}. Its items have no gold labels "
            f"that {method.name} counts. Name a model that can be asked."
        )
    whole = benchmark.items(shape)
    items = limited(whole, limit)
    limit = None if items is whole else limit
    name = str(MeasureName(method.name, method.version))
    settings = with_ties(settings, system.scoring)
    measurement = Measurement(
        benchmark, items, name, card, system.scoring, settings, limit, of=len(whole)
    )
    return measurement.job(counted, lambda: system.scores(items, settings.variant))


def bound(
    method: Method, backend: Backend, settings: Settings, options: Mapping[str, Any]
) -> Measure:
    """The method bound to a model, with those options that it has."""
    known = {field.name for field in fields(method.options)}
    chosen = {"seed": settings.seed} | dict(options)
    return method.bind(
        backend,
        settings.variant,
        method.options(**{name: value for name, value in chosen.items() if name in known}),
    )


def _first_answerable(
    methods: Sequence[Method],
    backend: Backend,
    settings: Settings,
    options: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> tuple[Method, Measure]:
    refusals: list[ModelError] = []
    for method in methods:
        known = {field.name for field in fields(method.options)}
        if unknown := [name for name in options if name not in known]:
            flag = unknown[0].replace("_", "-")
            raise UsageError(
                f"{method.name} has no --{flag}. It would change nothing. Leave the option out."
            )
        try:
            return method, bound(method, backend, settings, {**defaults, **options})
        except ModelError as error:
            refusals.append(error)
    others = answerable(backend, settings)
    raise ModelError(
        f"{refusals[0]} It can answer {', '.join(others)}." if others else str(refusals[0])
    )


def answerable(backend: Backend, settings: Settings) -> list[str]:
    """The measures that a model can be asked for, those that are defaults first."""
    names = []
    defaults = [name for kind in catalog.names("shape") for name in catalog.shape(kind).measures]
    for name in dict.fromkeys((*defaults, *catalog.every("method"))):
        with suppress(ModelError, UsageError):
            bound(catalog.find("method", name), backend, settings, {})
            names.append(name)
    return names


def warned(jobs: Iterable[Job], announce: Callable[[str], None]) -> Iterator[Job]:
    """The jobs of several models; said where they get different measures of the same items, which
    cannot be compared, and which measure both could answer."""
    first: dict[tuple[str, str], tuple[str, str, list[str]]] = {}
    for job in jobs:
        measure = MeasureName.parse(job.plan["measure"]).known_as
        place = (job.plan["benchmark"], job.kind)
        if isinstance(job.source, Asking) and first.get(place, ("", ""))[1] != measure:
            could = answerable(job.source.backend, Settings(job.plan["variant"]))
            model, other, names = first.setdefault(place, (job.plan["model"], measure, could))
            if other != measure and model != job.plan["model"]:
                announce(
                    f"{place[0]}: {model} is measured by {other} and {job.plan['model']} by "
                    f"{measure}, so their numbers cannot be compared. "
                    f"{_common([name for name in names if name in could], job.kind)}"
                )
        yield job


def _common(both: Sequence[str], kind: str) -> str:
    """The measure that both can answer: of these items, or else of others."""
    kinds = {name: catalog.shape(catalog.find("method", name).kind) for name in both}
    if alike := [name for name, shape in kinds.items() if shape.name == kind]:
        return f"--measure {alike[0]} gives both the same."
    others = [
        f"; of a {shape.noun} {name} does" for name, shape in kinds.items() if shape.candidates
    ]
    return f"No measure of a {catalog.shape(kind).noun} suits both{(*others, '')[0]}."


def backend_of(model: Backend | Scorer) -> Backend:
    """The model, where it is one that can be asked."""
    if isinstance(model, Scorer):
        raise UsageError(
            f"{model.card.name} is a baseline that reads the gold labels of other sets. "
            "It cannot be asked in words. Name a model."
        )
    return model
