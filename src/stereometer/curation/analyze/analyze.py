"""All analyses of a data set, and of runs on it, as one value: what `stereometer analyze` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stereometer import api
from stereometer.benchmarks import crows_pairs, stereoset
from stereometer.benchmarks.benchmark import Benchmark
from stereometer.curation.analyze import keywords, labels, sentiment, terms
from stereometer.curation.analyze.items import Kind
from stereometer.errors import ModelError, UsageError
from stereometer.findings.shift import Shift, restricted, shifts
from stereometer.runs import store as runs
from stereometer.stats.agreement import Alpha
from stereometer.types import Backend, Result, Settings, System

LEVELS = (4, 5)
"""Validators that agree: the paper's footnote 2 takes four or more."""


@dataclass(frozen=True)
class Restricted:
    """A run on the items that so many validators agree on."""

    validators: int
    items: int
    estimates: Sequence[Any]
    shifts: Sequence[Shift]


@dataclass(frozen=True)
class OfRun:
    model: str
    measure: str
    variant: str
    terms: Sequence[terms.Term]
    restricted: Sequence[Restricted]


@dataclass(frozen=True)
class OfShape:
    """The items of one shape."""

    shape: str
    items: int
    statistics: Sequence[Mapping[str, Any]]
    tones: Sequence[sentiment.Tone]
    contrasts: Sequence[sentiment.Contrast]
    keywords: Sequence[keywords.Keyword]
    term_agreement: Sequence[Mapping[str, Any]]
    alpha: Alpha
    levels: Mapping[str, int]
    runs: Sequence[OfRun] = ()


@dataclass(frozen=True)
class Analysis:
    benchmark: str
    digest: str
    shapes: Sequence[OfShape]
    sentiment: str
    """What judged the sentiment, or why nothing did."""
    notes: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    schema: str = "analysis@1"

    def as_json(self) -> dict[str, Any]:
        found = {"schema": self.schema} | asdict(self)
        for shape, told in zip(self.shapes, found["shapes"], strict=True):
            for run, row in zip(shape.runs, told["runs"], strict=True):
                for one, part in zip(run.restricted, row["restricted"], strict=True):
                    part["shifts"] = [shift.as_json() for shift in one.shifts]
        return found


def analyze(
    name: str,
    *,
    data: str | Path | None = None,
    run_folders: Sequence[str | Path] = (),
    model: str = "sentiment",
    options: Mapping[str, Any] | None = None,
    top: int = 16,
    ends: int = terms.ENDS,
    settings: Settings | None = None,
) -> Analysis:
    chosen = settings or Settings()
    if top < 1 or ends < 1:
        raise UsageError(
            "The number of keywords or terms is below 1. At least one is shown. Choose a number from 1 up."
        )
    benchmark = api.open_named(name, data)
    loaded = [(Path(folder), runs.load_result(Path(folder))) for folder in run_folders]
    for folder, result in loaded:
        check_same(benchmark, result, folder)
    backend, judged = _judge(model, options, benchmark.card.language)
    frequency, notes = _reference(benchmark)
    shapes = [
        _shape(benchmark, shape, loaded, backend, frequency, top, ends, chosen)
        for shape in benchmark.sentence_shapes()
    ]
    told = {
        "seed": chosen.seed,
        "resamples": chosen.resamples,
        "level": chosen.level,
        "smoothing": keywords.SMOOTHING,
    }
    return Analysis(
        benchmark.name, benchmark.digest, shapes, judged, (*benchmark.notes, *notes), told
    )


def check_same(benchmark: Benchmark, result: Result, folder: Path) -> None:
    if result.data["digest"] != benchmark.digest:
        raise UsageError(
            f"{folder} was measured on other items ({result.benchmark}, content {result.data['digest'][:12]}). These are {benchmark.name}, content {benchmark.digest[:12]}. Name its own data with --data."
        )
    if shape_of(result) not in benchmark.sentence_shapes():
        raise UsageError(
            f"{folder} was measured with {result.measure}, which does not read the {' or '.join(benchmark.sentence_shapes())} items looked at here. Its numbers are of items of another shape. Name a run of another measure."
        )


def _judge(
    model: str, options: Mapping[str, Any] | None, language: str
) -> tuple[Backend | None, str]:
    """The sentiment backend; without its package, or where it reads another language, the rest of the analysis still stands."""
    if model == "sentiment" and keywords.other_than_english(language):
        return (
            None,
            f"not judged: VADER reads English, the items are {language}; name a classifier with --sentiment",
        )
    try:
        found = api.open_model(model, options=options)
    except ModelError as error:
        if model != "sentiment":
            raise
        return None, f"not judged: {error}"
    if isinstance(found, System) or "whole-text" not in found.supports:
        raise UsageError(
            f"{model} does not judge sentiment. `sentiment` and `sentiment:MODEL` do. Name one of those."
        )
    told = f", {found.toned_by}" if isinstance(found, sentiment.Toned) else ""
    return found, f"{found.card.name} ({found.card.digest[:24]}){told}"


def _reference(benchmark: Benchmark) -> tuple[keywords.Frequency | None, tuple[str, ...]]:
    language = benchmark.card.language
    assumed = (
        ()
        if language in keywords.LANGUAGES
        else (
            "The card names no language with reference frequencies: keywords are held against English.",
        )
    )
    try:
        return keywords.reference(language), assumed
    except ModelError as error:
        return None, (str(error),)


def _shape(
    benchmark: Benchmark,
    shape: str,
    loaded: Sequence[tuple[Path, Result]],
    backend: Backend | None,
    frequency: keywords.Frequency | None,
    top: int,
    ends: int,
    settings: Settings,
) -> OfShape:
    items: Any = benchmark.items(shape)
    judged = [item for item in items if item.unscorable is None]
    signs = sentiment.signs(judged, shape, backend) if backend is not None and judged else None
    return OfShape(
        shape,
        len(items),
        stereoset.statistics(items) if shape == "cat" else crows_pairs.statistics(items),
        sentiment.tones(judged, shape, signs) if signs else [],
        sentiment.contrasts(judged, shape, signs, settings) if signs else [],
        keywords.keywords(items, frequency, top) if frequency is not None else [],
        stereoset.term_agreement(items) if shape == "cat" else [],
        labels.raw_alpha(items, settings),
        labels.levels(items),
        [
            _of_run(folder, result, items, ends, settings)
            for folder, result in loaded
            if shape_of(result) == shape
        ],
    )


def shape_of(result: Result) -> str | None:
    """Told by the main metric; None for a run on neither CATs nor pairs."""
    names = {one.name for one in result.estimates}
    return next(
        (shape for name, shape in (("ss", "cat"), ("pair_preference", "pair")) if name in names),
        None,
    )


def _of_run(
    folder: Path, result: Result, items: Sequence[Kind], ends: int, settings: Settings
) -> OfRun:
    """Under the run's own variant and coverage floor."""
    ours = Settings(
        result.variant,
        settings.seed,
        settings.resamples,
        settings.level,
        float(result.settings["coverage"]),
    )
    scores = list(runs.load_scores(folder))
    parts = []
    for least in LEVELS:
        keep = labels.agreed(items, least)
        if keep:
            parts.append(
                Restricted(
                    least, len(keep), restricted(scores, keep, ours), shifts(scores, keep, ours)
                )
            )
    found = terms.table(result, ends) if shape_of(result) == "cat" else []
    return OfRun(result.model, result.measure, result.variant, found, parts)
