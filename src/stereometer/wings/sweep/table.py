"""The table of admissible readings, `table.toml`, as data, and the runs of a sweep: which
are wanted of a model, and which of them ask what.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.runs.measure import backend_of, job_for
from stereometer.core.runs.stored import Run, Stored, runs_of
from stereometer.core.shapes.sentences import SentenceShape
from stereometer.core.types import Backend, Job, Result, Score, Scorer, Settings, digest_of
from stereometer.core.types.document import typed
from stereometer.core.types.names import WITHIN_WORD, MeasureName
from stereometer.wings.curation.runs import runs_on
from stereometer.wings.sweep.way import FORMS, Way


@dataclass(frozen=True)
class ReadingQuestion:
    """What readings that are tested together have in common."""

    id: str
    shape: str
    asks: str
    way: tuple[Way, ...] = ()


@dataclass(frozen=True)
class ReadingTable:
    version: str
    question: tuple[ReadingQuestion, ...]
    averaging: Mapping[str, str]
    """What every way of asking can be averaged over, and why; so its items."""
    items: Mapping[str, str]
    left_out: Mapping[str, str]
    """Measures that are no admissible readings, and why."""

    def ways(self, shape: str, asked: bool = False) -> Iterator[tuple[ReadingQuestion, Way]]:
        """In the order of the table; only what is asked in words, or only what is usual."""
        for question, way in self.every(shape):
            if bool(way.wordings) if asked else not way.with_asked:
                yield question, way

    def every(self, shape: str) -> Iterator[tuple[ReadingQuestion, Way]]:
        for question in self.question:
            if question.shape == shape:
                yield from ((question, way) for way in question.way)

    def of(self, result: Result) -> tuple[ReadingQuestion, Way]:
        """The way of asking that a stored run is of; a measure that the table does not have asks a
        question of its own."""
        method = result.measured_by.known_as
        within_word = WITHIN_WORD in result.measured_by.options
        for question, way in self.every(result.kind):
            if (way.method, way.variant, way.within_word) == (method, result.variant, within_word):
                return question, way.as_recorded(result) if way.wordings else way
        way = Way(method, result.variant, "It was named.", within_word=within_word)
        asks = f"What do the scores say? `{method}` is not in the table of readings."
        return ReadingQuestion(method, result.kind, asks, (way,)), way

    def place(self, kind: str, way: Way) -> tuple[Any, ...]:
        """Where it stands among the ways of a shape."""
        rows = [(each.method, each.variant, each.within_word) for _, each in self.every(kind)]
        row = way.method, way.variant, way.within_word
        at = rows.index(row) if row in rows else len(rows)
        return at, way.form, way.thinking, way.neutral, way.wording


def _written() -> dict[str, Any]:
    text = resources.files("stereometer.wings.sweep").joinpath("table.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def readings() -> ReadingTable:
    return typed(ReadingTable, _written())


@cache
def table_digest() -> str:
    return digest_of(_written())[:16]


SWEEP = "sweep"


@dataclass(frozen=True)
class RunOfWay:
    """A run and the way of asking that it is of."""

    question: ReadingQuestion
    way: Way
    shape: SentenceShape
    stored: Run

    @cached_property
    def by_item(self) -> Mapping[str, Score]:
        return {score.item: score for score in self.stored.scores}

    @cached_property
    def by_part(self) -> Mapping[str, Sequence[Score]]:
        parts: dict[str, list[Score]] = {}
        for score in self.stored.scores:
            parts.setdefault(self.shape.task(score), []).append(score)
        return parts

    @cached_property
    def numbers(self) -> Mapping[str, str]:
        """By part, a digest of what every item was given."""
        return {
            part: digest_of([(score.item, sorted(score.values.items())) for score in scores])
            for part, scores in self.by_part.items()
        }

    def skipped(self, part: str) -> str:
        """The commonest reason why items of a part were not answered."""
        reasons = Counter(score.skipped for score in self.by_part[part] if score.skipped)
        return reasons.most_common(1)[0][0] if reasons else "there are none"

    def withheld(self, part: str) -> str | None:
        """Why the run itself has no score of a part, if it has none."""
        result = self.stored.result
        name = self.shape.leading(result).name
        rows = {tuple(row.slice.items()): row for row in result.estimates if row.name == name}
        row = rows.get((("task", part),)) or rows.get(())
        return None if row is None or row.p is not None else row.why or row.verdict


# ------------------------------------------------------------------------------------------ models


def swept_shapes(benchmark: Benchmark) -> list[SentenceShape]:
    """The shapes of a benchmark that the table has questions about."""
    asked = {question.shape for question in readings().question}
    shapes = [catalog.shape(name) for name in benchmark.measures if name in benchmark.shapes]
    swept = [shape for shape in shapes if isinstance(shape, SentenceShape) and shape.name in asked]
    if not swept:
        raise UsageError(
            f"{benchmark.name} has no admissible readings. The table of readings is of CATs and "
            "pairs, where a stereotype stands against its opposite. `stereometer list` shows which "
            "benchmarks have those."
        )
    return swept


def jobs_of(
    benchmark: Benchmark,
    model: Backend | Scorer,
    measures: Sequence[str],
    settings: Settings,
    limit: int | None = None,
    called: str | None = None,
    asked: bool = False,
) -> list[Job]:
    """A run for every way of asking that the model can answer; `asked`: in words, in every way."""
    jobs: list[Job] = []
    refusals: list[str] = []
    wanted = [catalog.spelled("method", name) for name in measures]

    def add(shape: str, way: Way) -> None:
        named, how = way.measured.settings, replace(settings, variant=way.variant)
        options = named | ({"chat": way.form == FORMS[1]} if way.form else {})
        job = job_for(benchmark, shape, [way.method], model, how, limit, options, called)
        # An option that changes nothing for this model would be the same reading again.
        if MeasureName.parse(job.plan["measure"]).settings == named:
            jobs.append(job)

    for shape in swept_shapes(benchmark):
        for _, way in readings().ways(shape.name, asked):
            if wanted and way.method not in wanted:
                continue
            try:
                for each in way.worded(backend_of(model).abilities) if asked else [way]:
                    add(shape.name, each)
            except ModelError as error:
                refusals.append(str(error))
    if not jobs:
        reason = refusals[0] if refusals else "No measure that was named is in the table."
        raise ModelError(f"{model.card.name} answers no reading of {benchmark.name}. {reason}")
    return jobs


def check_measures(measures: Sequence[str], asked: bool = False) -> None:
    """Raises for a measure that is not an admissible reading, with the reason if there is one."""
    table = readings()
    ways = [way for question in table.question for way in question.way]
    known = dict.fromkeys(way.method for way in ways if way.wordings or not asked)
    for name in (name for name in measures if name not in known):
        if name in {way.method for way in ways}:
            raise UsageError(
                f"{name} is not asked in words. With --asked a sweep takes the ways of asking in "
                f"words only. Leave --asked out, or name {', '.join(known)}."
            )
        catalog.find("method", name)
        why = table.left_out.get(name, "It answers none of the questions.")
        raise UsageError(
            f"{name} is not an admissible reading. {why} The measures in the table are "
            f"{', '.join(known)}."
        )


# -------------------------------------------------------------------------------------------- runs


def stored_runs(stored: Sequence[Stored], benchmark: Benchmark) -> Sequence[Run]:
    """Runs in folders, or in folders of them, without earlier sweeps."""
    return runs_on(benchmark, [run for run in runs_of(stored) if run.result.kind != SWEEP])


def by_model(runs: Sequence[Run]) -> Mapping[tuple[str, str], list[RunOfWay]]:
    """Runs of one model on items of one shape, in the order of the table."""
    _check_drawn(runs)
    table, grouped = readings(), dict[tuple[str, str], list[RunOfWay]]()
    for run in runs:
        shape = run.shape
        if not isinstance(shape, SentenceShape):
            raise TypeError(f"{run.result.kind} has no sides")
        of_way = RunOfWay(*table.of(run.result), shape, run)
        mine = grouped.setdefault((run.result.model, run.result.kind), [])
        if any(of_way.way.id == other.way.id for other in mine):
            raise UsageError(
                f"{run.result.model} has two runs of {of_way.way.id}. One of them is enough. "
                "Name each reading once, or give the models different names."
            )
        mine.append(of_way)
    for (_, kind), mine in grouped.items():
        mine.sort(key=lambda each: table.place(kind, each.way))
    return {key: _told_apart(mine) for key, mine in grouped.items()}


def _told_apart(runs: Sequence[RunOfWay]) -> list[RunOfWay]:
    """A choice of the asking that all have in common tells nothing apart."""
    ways = [run.way for run in runs if run.way.wording]
    alike = (name for name in ("form", "thinking") if len({getattr(w, name) for w in ways}) < 2)
    untold: dict[str, Any] = dict.fromkeys(alike, "")
    return [replace(run, way=replace(run.way, **untold)) for run in runs]


def _check_drawn(runs: Sequence[Run]) -> None:
    limits = {run.result.settings["limit"]: run.folder for run in runs}
    if len(limits) > 1:
        first, second, *_ = limits.values()
        raise UsageError(
            f"{first} and {second} have different limits. Readings are compared on the same items. "
            "Name runs with the same limit."
        )
