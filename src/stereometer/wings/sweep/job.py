"""One model's runs on the items of one shape, as a job: what they say together."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import UsageError
from stereometer.core.runs import store
from stereometer.core.runs.job import versions
from stereometer.core.shapes.points import repeated, wording
from stereometer.core.shapes.sentences import SentenceShape
from stereometer.core.types import Estimate, Job, Result, Score, Settings, digest_of
from stereometer.wings.sweep.curve import across, beside, concluded, curve
from stereometer.wings.sweep.reading import CLEAN, PartQuestion, SweptPart, parts_of
from stereometer.wings.sweep.shape import CAUTION
from stereometer.wings.sweep.table import SWEEP, RunOfWay, table_digest

MEASURE = "readings@1"
UNANSWERED = "no reading answered it"


@dataclass(frozen=True)
class Gathered:
    """What a sweep of one model knows before it counts."""

    benchmark: Benchmark
    runs: Sequence[RunOfWay]
    settings: Settings
    faulty: frozenset[str]
    """Items that an audit flags."""
    flags: Sequence[str]
    """What it could check."""

    @property
    def shape(self) -> SentenceShape:
        return self.runs[0].shape

    @property
    def model(self) -> str:
        return self.runs[0].stored.result.model

    @property
    def limit(self) -> int | None:
        limit: int | None = self.runs[0].stored.result.settings["limit"]
        return limit

    @cached_property
    def scores(self) -> list[Score]:
        """What each run says of each item; of a part that it answers nothing of, nothing."""
        first = self.runs[0].stored.scores
        copies = repeated(first)
        return [self._sides(score, copies.get(wording(score), 0)) for score in first]

    def _sides(self, first: Score, copy: int) -> Score:
        sides: dict[str, float] = {}
        for run in self.runs:
            score = run.by_item.get(first.item)
            if score is not None and score.skipped is None:
                sides[run.way.id] = float(self.shape.side(score, run.way.variant))
        skipped, clean = (
            None if sides else UNANSWERED,
            {CLEAN: float(first.item not in self.faulty)},
        )
        return Score(first.item, first.slices, sides, skipped, derived=clean, copy=copy)

    @cached_property
    def asked(self) -> list[PartQuestion]:
        """Every question of every part that at least one run answers."""
        return [
            asked for part in parts_of(self.shape, self.scores) for asked in self._questions(part)
        ]

    def _questions(self, part: SweptPart) -> Iterator[PartQuestion]:
        runs = self._distinct(part)
        for question in dict.fromkeys(run.question for run in runs):
            mine = [run for run in runs if run.question == question]
            withheld = {run.way.id: why for run in mine if (why := run.withheld(part.name))}
            ties = {run.way.id: run.stored.ties for run in mine}
            ways = [run.way for run in mine]
            yield PartQuestion(question, part, ways, self.settings, withheld, ties)

    def _distinct(self, part: SweptPart) -> list[RunOfWay]:
        """The runs that answer the part, each set of numbers once. Of a question in words every
        way stays, whatever its numbers, if one of them answers."""
        first: dict[str, RunOfWay] = {}
        asked = {run.question.id for run in self.runs if run.way.id in part.sides}
        for run in self.runs:
            if run.way.wording and run.question.id in asked:
                first[run.way.id] = run
            elif run.way.id in part.sides:
                first.setdefault(run.numbers[part.name], run)
        return list(first.values())

    @property
    def notes(self) -> Iterator[str]:
        """What is left out, and why."""
        for part in parts_of(self.shape, self.scores):
            kept = self._distinct(part)
            by_numbers = {run.numbers[part.name]: run for run in kept}
            silent: dict[str, list[str]] = {}
            for run in self.runs:
                if run.way.id not in part.sides:
                    silent.setdefault(run.skipped(part.name), []).append(run.way.id)
                elif run not in kept:
                    twin = by_numbers[run.numbers[part.name]]
                    yield (
                        f"{run.way.id} gives every item of {part.name} the numbers of "
                        f"{twin.way.id}: one reading, counted once."
                    )
            for why, ways in silent.items():
                answer = "answer" if ways[1:] else "answers"
                yield f"{', '.join(ways)} {answer} no item of {part.name}: {why}."

    @property
    def is_single(self) -> bool:
        """Whether no question has readings to set beside each other."""
        return max((len(asked.readings) for asked in self.asked), default=0) < 2

    def job(self) -> Job:
        if self.is_single:
            raise UsageError(
                f"{self.model} has one reading of {self.benchmark.name} only. A sweep sets "
                "readings beside each other. Use `stereometer run`, or name more measures."
            )
        drawn = [] if self.limit is None else [f"limit{self.limit}"]
        name = store.folder_name(self.benchmark.name, self.model, self.shape.name, SWEEP, *drawn)
        how = (lambda: self.scores), self.summarize, self.describe
        return Job(self.plan, SWEEP, *how, items=len(self.scores), folder=name)

    @property
    def plan(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark.name,
            "data": self.benchmark.digest,
            "measure": MEASURE,
            "model": self.model,
            "shape": self.shape.name,
            "limit": self.limit,
            "table": table_digest(),
            "runs": {run.way.id: run.stored.result.scores_digest for run in self.runs},
            "faulty": digest_of(sorted(self.faulty))[:16],
            **asdict(self.settings),
        }

    def summarize(self, scores: Iterable[Score]) -> list[Estimate]:
        """From the whole table, once the stream is stored."""
        deque(scores, maxlen=0)
        rows = [row for asked in self.asked for row in curve(asked)]
        results = {run.way.id: run.stored.result for run in self.runs}
        leading = self.shape.leading(self.runs[0].stored.result).name
        others = [name for name in self.shape.shares if name != leading]
        return [
            *concluded(rows, self.settings),
            *across(self.asked),
            *beside(results, self.asked, others),
        ]

    def describe(self, rows: Sequence[Estimate]) -> Result:
        notes = (note for run in self.runs for note in run.stored.result.notes)
        settings = asdict(self.settings) | {"limit": self.limit, "shape": self.shape.name}
        del settings["variant"]
        settings |= {
            "flags": list(self.flags),
            "questions": {asked.question.id: asked.question.asks for asked in self.asked},
            "readings": {run.way.id: run.way.why for run in self.runs},
        }
        return replace(
            self.runs[0].stored.result,
            measure=MEASURE,
            variant="sound",
            settings=settings,
            versions=versions(),
            notes=tuple(dict.fromkeys((*notes, *self.notes, CAUTION))),
            estimates=tuple(rows),
            kind=SWEEP,
        )
