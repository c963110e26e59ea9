"""The runs that a sweep is made of: which are wanted of a model, and which of them ask what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stereometer import catalog
from stereometer.benchmarks.benchmark import Benchmark
from stereometer.curation.runs import runs_on
from stereometer.errors import ModelError, UsageError
from stereometer.readings.table import Question, Way, readings
from stereometer.runs.measure import job_for
from stereometer.runs.stored import Run, Stored, runs_of
from stereometer.shapes.sentences import SentenceShape
from stereometer.types import Backend, Job, Score, Settings, System, digest_of
from stereometer.types.names import MeasureName

SWEEP = "sweep"


@dataclass(frozen=True)
class RunOfWay:
    """A run and the way of asking that it is of."""

    question: Question
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
        name = self.shape.leading(self.stored.result).name
        rows = [row for row in self.stored.result.estimates if row.name == name]
        for place in ({"task": part}, {}):
            for row in rows:
                if row.slice == place:
                    return None if row.p is not None else row.why or row.verdict
        return None


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
    model: Backend | System,
    measures: Sequence[str],
    settings: Settings,
    limit: int | None = None,
    called: str | None = None,
) -> list[Job]:
    """A run for every way of asking that the model can answer."""
    jobs: list[Job] = []
    refusals: list[str] = []
    for shape in swept_shapes(benchmark):
        for way in _wanted(shape.name, measures):
            try:
                jobs += _job(benchmark, shape.name, way, model, settings, limit, called)
            except ModelError as error:
                refusals.append(str(error))
    if not jobs:
        reason = refusals[0] if refusals else "No measure that was named is in the table."
        raise ModelError(f"{model.card.name} answers no reading of {benchmark.name}. {reason}")
    return jobs


def _wanted(shape: str, measures: Sequence[str]) -> Iterator[Way]:
    wanted = [catalog.spelled("method", name) for name in measures]
    for _, way in readings().ways(shape):
        if not wanted or way.method in wanted:
            yield way


def _job(
    benchmark: Benchmark,
    shape: str,
    way: Way,
    model: Backend | System,
    settings: Settings,
    limit: int | None,
    called: str | None,
) -> Iterator[Job]:
    """None where an option changes nothing for this model: that would be the same reading again."""
    options = {"within_word": True} if way.within_word else {}
    how = replace(settings, variant=way.variant)
    job = job_for(benchmark, shape, [way.method], model, how, limit, options, called)
    if MeasureName.parse(job.plan["measure"]).settings == options:
        yield job


def check_measures(measures: Sequence[str]) -> None:
    """Raises for a measure that is not an admissible reading, with the reason if there is one."""
    table = readings()
    known = dict.fromkeys(way.method for question in table.question for way in question.way)
    for name in measures:
        if name in known:
            continue
        catalog.find("method", name)
        why = next((each.why for each in table.left_out if each.method == name), None)
        raise UsageError(
            f"{name} is not an admissible reading. {why or 'It answers none of the questions.'} "
            f"The measures in the table are {', '.join(known)}."
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
        of_way = RunOfWay(*table.of(run.result), _shape(run.result.kind), run)
        mine = grouped.setdefault((run.result.model, run.result.kind), [])
        if any(of_way.way.id == other.way.id for other in mine):
            raise UsageError(
                f"{run.result.model} has two runs of {of_way.way.id}. One of them is enough. "
                "Name each reading once, or give the models different names."
            )
        mine.append(of_way)
    for (_, shape), mine in grouped.items():
        order = {way.id: at for at, (_, way) in enumerate(table.ways(shape))}
        mine.sort(key=lambda each: order.get(each.way.id, len(order)))
    return grouped


def _shape(kind: str) -> SentenceShape:
    shape = catalog.shape(kind)
    if not isinstance(shape, SentenceShape):
        raise TypeError(f"{kind} has no sides")
    return shape


def _check_drawn(runs: Sequence[Run]) -> None:
    limits = {run.result.settings["limit"]: run for run in runs}
    if len(limits) > 1:
        first, second = list(limits.values())[:2]
        raise UsageError(
            f"{first.folder} and {second.folder} have different limits. Readings are compared on "
            "the same items. Name runs with the same limit."
        )
