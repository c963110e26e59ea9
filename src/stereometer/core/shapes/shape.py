"""The seam: what a shape of items knows, and what holds of any kind of result.

A shape says what its metrics are, how scores are counted into estimates, how two systems are paired
on the same items, and which stored scores are whole. `Shape` itself is the plain one: what a result
of an unknown kind, or with metrics that nobody declared, still gets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from stereometer.core.errors import UsageError
from stereometer.core.shapes.differences import Difference, Flip, Shift, Withheld, asked_or_withheld
from stereometer.core.shapes.points import Coverage, Place, Points, PointSample
from stereometer.core.shapes.verdicts import Verdicts
from stereometer.core.shapes.view import Answered
from stereometer.core.shapes.view import plain as plain_view
from stereometer.core.show.view import View
from stereometer.core.stats.intervals import Floats, generator, percentile, resampled_clusters
from stereometer.core.stats.means import StudentMean
from stereometer.core.tables import read_table
from stereometer.core.types import Estimate, Result, Score, Settings, Slice, Variant

TieShares = Callable[[Slice], Mapping[str, float]]
MOST_SLICES = 60
"""Values of one kind of slice beyond which it names items rather than groups of them."""


@dataclass(frozen=True)
class Metric:
    """A number that results have, declared once."""

    name: str
    label: str
    """As tables and figures head it."""
    ideal: float | None = None
    digits: int = 1
    words: Verdicts | None = None
    """What its test says in words; None where it is not tested."""
    headline: bool = False
    """Whether it stands in the first table of a result."""
    about: str = ""
    """One sentence for the reference."""


def metrics_beside(module: str, **words: Verdicts) -> tuple[Metric, ...]:
    """Those of `metrics.csv` beside a module's file; `words` are of the ones that are tested."""
    table = Path(module).with_name("metrics.csv")
    return tuple(
        Metric(
            row["name"],
            row["label"],
            float(row["ideal"]) if row["ideal"] else None,
            int(row["digits"]),
            words.get(row["name"]),
            row["headline"] == "yes",
            row["about"],
        )
        for _, row in read_table(table, ("name", "label", "ideal", "digits", "headline", "about"))
    )


class NotCompared:
    """What kinds of result share whose systems are not set against each other item by item."""

    not_compared: ClassVar[str] = (
        "The runs have no preferences to compare. `compare` needs a stereotype and its opposite. "
        "`stereometer align` and `report` read runs on groups and traits."
    )

    def differences(
        self, both: object, every: object, settings: Settings
    ) -> Iterator[Difference | Withheld]:
        raise UsageError(self.not_compared)


class Shape:
    """How results of one kind are counted, paired and named. This one is for anything else."""

    name: ClassVar[str] = "plain"
    noun: ClassVar[str] = "item"
    """What one item is called."""
    candidates: ClassVar[tuple[str, ...]] = ()
    """What an item has a score of each, the stereotype first; empty where items are not set against
    each other."""
    metrics: ClassVar[tuple[Metric, ...]] = ()
    measures: ClassVar[tuple[str, ...]] = ()
    """How items are measured unless a benchmark says otherwise: the first that a model can answer
    is taken."""
    summary_metric: ClassVar[str] = ""
    """What stands for a result where there is room for one number; empty for the leading metric."""
    shares_some: ClassVar[bool] = False
    """Whether two systems may be compared on what they share of their units."""
    fine: ClassVar[tuple[str, ...]] = ()
    """What slices fix that are too many for a first table."""
    principal: ClassVar[tuple[str, ...] | None] = None
    """What the slices fix that stand in the first table beside the overall value; None where all
    headline slices do."""
    slices: ClassVar[tuple[str, ...]] = ()
    """What every item of this shape belongs to."""
    means: ClassVar[tuple[str, ...]] = ()
    """Metrics that are means of the items' points, from 0 to 100: over terms, where `term_by` says
    what makes one, and within them over items."""
    term_by: ClassVar[tuple[str, ...]] = ()
    unit_by: ClassVar[tuple[str, ...]] = ()
    """What names the term of an item that has one: items of a term vary together, however they are
    averaged."""
    domains: ClassVar[str] = ""
    """Which of them says what an item is about."""
    modelling: ClassVar[str] = ""
    """The metric that says how well a model models language, where there is one."""
    of_runs: ClassVar[bool] = False
    """Whether its results are made from stored runs, so that nothing was asked for them."""
    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {}
    """What results of this kind record among their settings besides what all do."""
    places: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """By metric, what every estimate of it fixes."""

    @property
    def term_name(self) -> str:
        """What names a term within its domain; empty where terms are not counted by domain."""
        within = [name for name in self.term_by if name != self.domains]
        return within[0] if len(within) == 1 < len(self.term_by) else ""

    def metric(self, name: str, ideal: float | None = None) -> Metric:
        """The declared metric, or a plain one under its own name."""
        declared = next((metric for metric in self.metrics if metric.name == name), None)
        return declared or Metric(name, name.replace("_", " "), ideal, headline=not self.metrics)

    def metrics_of(self, result: Result) -> list[Metric]:
        """The metrics that a result has, the declared ones first and in their order."""
        named = {estimate.name: estimate.ideal for estimate in reversed(result.estimates)}
        declared = [metric for metric in self.metrics if metric.name in named]
        names = {metric.name for metric in declared}
        others = dict.fromkeys(
            estimate.name for estimate in result.estimates if estimate.name not in names
        )
        return declared + [self.metric(name, named[name]) for name in others]

    def leading(self, result: Result) -> Metric:
        """The metric whose verdict leads a result: the first that is tested, else the first."""
        metrics = self.metrics_of(result)
        return next((metric for metric in metrics if metric.words), metrics[0])

    def headline_slice(self, slice_: Slice) -> bool:
        """Whether a slice stands in the table of all slices."""
        return not any(name in slice_ for name in self.fine)

    def first_slice(self, slice_: Slice) -> bool:
        """Whether a slice stands in the first table."""
        return self.principal is None or slice_.keys() <= set(self.principal)

    # ------------------------------------------------------------------------------------- counting

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        """Scores into estimates: means of what items add to every metric, overall and by slice."""
        every = list(scores)
        points = [
            self.points(score, settings.variant) if score.skipped is None else {} for score in every
        ]
        names = dict.fromkeys(name for of in points for name in of) or [
            m.name for m in self.metrics
        ]
        estimates = []
        for slice_ in grouping_slices([score.slices for score in every]):
            here = [at for at, score in enumerate(every) if slice_.items() <= score.slices.items()]
            coverage = Coverage.of(every[at] for at in here)
            why = coverage.shortfall(settings)
            for name in names:
                known: Mapping[str, Any] = {"why": why}
                if why is None:
                    values = np.array([points[at][name] for at in here if name in points[at]])
                    known = self.measured(values, slice_, name, settings)
                ideal = self.metric(name).ideal
                estimates.append(coverage.estimate(name, slice_, ideal, **known))
        return estimates

    def measured(
        self, values: Floats, slice_: Slice, name: str, settings: Settings
    ) -> Mapping[str, Any]:
        """What an estimate says of the points of its items: their mean, and its interval from
        items that are resampled."""
        low, high = percentile(_draws(values, slice_, name, settings), settings.level)
        how = "percentile bootstrap over items"
        return {"value": float(values.mean()), "low": low, "high": high, "interval": how}

    def whole(self, score: Score) -> Score:
        """A stored score that has what its kind needs; raises ValueError where it has not."""
        if lacking := [name for name in self.slices if name not in score.slices]:
            raise ValueError(f"no {lacking[0]}")
        if score.skipped is None and not self.is_whole(score):
            raise ValueError("no values")
        return score

    def is_whole(self, score: Score) -> bool:
        """Whether a stored score has the values that its kind needs."""
        return bool(score.values or score.answers)

    def derived(self, values: Mapping[str, float]) -> Mapping[str, float]:
        """What is stored beside an item's values because it follows from them alone."""
        return {}

    def stored(self, score: Score) -> Score:
        """A score as `scores.jsonl` keeps it."""
        if score.skipped is not None:
            return score
        derived = self.derived(score.values)
        return replace(score, derived={**score.derived, **derived}) if derived else score

    # -------------------------------------------------------------------------------------- pairing

    def compared_as(self, result: Result) -> str:
        """What two results must have in common besides benchmark, items and variant."""
        return result.measure

    def units(self, scores: Iterable[Score], variant: Variant) -> dict[str, Score]:
        """Scores by what two systems are paired on: items, unless a shape knows better."""
        return {score.item: score for score in scores}

    def points(self, score: Score, variant: Variant) -> Mapping[str, float]:
        """What one answered item adds to each metric that is a mean over items."""
        return score.values

    def term(self, score: Score) -> str:
        """Items of one term, or of the same texts where they have none, are not independent; each
        is its own, unless a shape knows better."""
        return score.item

    def differences(
        self, both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
    ) -> Iterator[Difference | Withheld]:
        """Second minus first, in every metric that both systems have, on the items that both
        answered, with a t test over items; `every` is of all items."""
        for slice_ in grouping_slices(every):
            here = [
                [self.points(score, settings.variant) for score in pair]
                for pair in both
                if slice_.items() <= pair[0].slices.items()
            ]
            asked = asked_or_withheld(slice_, len(here), every, settings)
            if isinstance(asked, Withheld):
                yield asked
                continue
            for name in _shared([points for pair in here for points in pair]):
                first, second = np.array([[points[name] for points in pair] for pair in here]).T
                change = second - first
                p = StudentMean.of(change).p() if change.size > 1 else 1.0
                values, ideal = (float(first.mean()), float(second.mean())), self.metric(name).ideal
                difference = Difference(name, slice_, *values, len(here), asked, None, ideal)
                draws = _draws(change, slice_, name, settings)
                span = float(np.ptp([first, second]))
                yield difference.measured(draws, p, "paired t over items", settings, span)

    def tie_shares(self, scores: Iterable[Score], variant: Variant) -> TieShares:
        """From a slice of these scores to the share of ties, by metric."""
        return lambda slice_: {}

    def flip(self, first: Score, second: Score, variant: Variant) -> Flip | None:
        """Whether the two systems prefer different candidates."""
        return None

    # -------------------------------------------------------------------------------------- showing

    def statistics(self, items: Sequence[Any]) -> list[dict[str, Any]]:
        """What a set of items is made of, in rows; nothing where a shape has no such table."""
        return []

    def outlook(self, items: Sequence[Any], level: float) -> str | None:
        """What a design as small as this could show at all; None where it is large enough."""
        return None

    def term_agreement(self, items: Sequence[Any]) -> list[dict[str, Any]]:
        """How far validators agree on each target term, lowest first."""
        return []

    def view(self, results: Sequence[Result]) -> View:
        """The first tables of a result, or of several results measured alike side by side."""
        return plain_view(self, results)

    def answered(self, result: Result, scores: Iterable[Score]) -> Answered | None:
        """What a model wrote, for kinds whose answers are words."""
        return None


class Contrast(Shape, ABC):
    """Items with a candidate for the stereotype and one for its opposite, the first two."""

    preference: ClassVar[str]
    """The metric that says how often the first is preferred."""
    shares: ClassVar[tuple[str, ...]] = ()
    """Metrics in percent that any way of asking gives."""
    unrelated: ClassVar[str | None] = None
    """The candidate that makes no sense, where items have one."""

    def task(self, score: Score) -> str:
        """Scores of one task are on one scale."""
        return self.name

    def flip(self, first: Score, second: Score, variant: Variant) -> Flip | None:
        chosen = {0.0: self.candidates[1], 50.0: "tie", 100.0: self.candidates[0]}
        before, after = (self.points(score, variant)[self.preference] for score in (first, second))
        if before == after:
            return None
        return Flip(first.item, first.slices, chosen[before], chosen[after], after > before)

    @abstractmethod
    def side(self, score: Score, variant: Variant) -> int:
        """1 where an answered item prefers the stereotype, -1 where it prefers the opposite, 0 for
        a tie, whatever the variant makes of one."""

    # -------------------------------------------------------------------------- the table of points

    kinds: ClassVar[int]
    """How many different things an item may say."""

    @abstractmethod
    def says(self, score: Score, variant: Variant) -> int:
        """Which of them an answered item says."""

    @abstractmethod
    def table(
        self, entries: Iterable[tuple[Score, Place | None]], shape: tuple[int, ...]
    ) -> Points:
        """By what varies together."""

    @abstractmethod
    def table_slices(self, table: Points) -> Iterable[Slice]:
        """In which a table is counted."""

    @abstractmethod
    def differences_of(
        self, sample: PointSample, asked: int, settings: Settings
    ) -> Iterator[Difference]:
        """From what items say under the first system by what they say under the second."""

    @abstractmethod
    def shifts_of(self, sample: PointSample, settings: Settings) -> Iterator[Shift]:
        """From what items say that are left out, and in the second half what those kept say."""

    def differences(
        self, both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
    ) -> Iterator[Difference | Withheld]:
        """What the first system says of an item by what the second does, counted by slice."""
        joint = (
            (pair[0], tuple(self.says(score, settings.variant) for score in pair)) for pair in both
        )
        table = self.table(joint, (self.kinds, self.kinds))
        for sample in map(table.within, self.table_slices(table)):
            if not sample.coverage.count:
                continue  # a domain that this task has no items of
            asked = asked_or_withheld(sample.slice, sample.coverage.count, every, settings)
            if isinstance(asked, Withheld):
                yield asked
            else:
                yield from self.differences_of(sample, asked, settings)

    def shifts(
        self, scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
    ) -> Iterator[Shift]:
        """Every metric on all answered items and on those kept, by headline slice or overall."""
        entries = (
            (score, self.says(score, settings.variant) + self.kinds * (score.item in keep))
            for score in scores
        )
        table = self.table(entries, (2 * self.kinds,))
        for slice_ in [{}] if overall else self.table_slices(table):
            sample = table.within(slice_)
            if sample.coverage.count:
                yield from self.shifts_of(sample, settings)


def grouping_slices(every: Sequence[Slice]) -> list[Slice]:
    """Overall, then every value of every key that groups items."""
    values: dict[str, dict[str, None]] = {}
    for item in every:
        for name, value in item.items():
            values.setdefault(name, {})[value] = None
    grouping = {name: known for name, known in values.items() if 1 < len(known) <= MOST_SLICES}
    return [{}, *({name: value} for name, known in grouping.items() for value in sorted(known))]


def _draws(values: Floats, slice_: Slice, name: str, settings: Settings) -> Floats:
    rng = generator(settings.seed, slice_, name)
    draws: Floats = resampled_clusters(values.size, settings.resamples, rng) @ values / values.size
    return draws


def _shared(points: Sequence[Mapping[str, float]]) -> list[str]:
    return [name for name in points[0] if all(name in other for other in points)] if points else []
