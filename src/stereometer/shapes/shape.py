"""The seam: what a shape of items knows, and what holds of any kind of result.

A shape says what its metrics are, how scores are counted into estimates, how two systems are paired
on the same items, and which stored scores are whole. `Shape` itself is the plain one: what a result
of an unknown kind, or with metrics that nobody declared, still gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from stereometer.errors import UsageError
from stereometer.shapes import plain
from stereometer.shapes.differences import Difference, Flip, Withheld
from stereometer.shapes.metric import Metric
from stereometer.shapes.overview import Answered, Overview
from stereometer.shapes.overview import plain as plain_overview
from stereometer.stats.intervals import Floats
from stereometer.types import Estimate, Result, Score, Settings, Slice, Variant

TieShares = Callable[[Slice], Mapping[str, float]]


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
        """Scores into estimates; the plain way is the mean of points, overall and by slice."""
        return plain.summarize(self, scores, settings)

    def measured(
        self, values: Floats, slice_: Slice, name: str, settings: Settings
    ) -> Mapping[str, Any]:
        """What an estimate says of the points of its items."""
        return plain.drawn(values, slice_, name, settings)

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
        return replace(score, derived=derived) if derived else score

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
        """Second minus first on the items that both systems answered; `every` is of all items."""
        return plain.differences(self, both, every, settings)

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

    def overview(self, results: Sequence[Result]) -> Overview:
        """The first tables of a result, or of several results measured alike side by side."""
        return plain_overview(self, results)

    def answered(self, result: Result, scores: Iterable[Score]) -> Answered | None:
        """What a model wrote, for kinds whose answers are words."""
        return None
