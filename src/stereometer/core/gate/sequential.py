"""What is known of one metric in one slice while items come in: intervals that hold at every look.

The claim is about terms, or pairs, like these; of `point(...)` bars about the value that all items
of this very set would give (docs/decisions/0023-early-stopping.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stereometer.core.shapes.points import term, wording
from stereometer.core.shapes.shape import Shape
from stereometer.core.shapes.verdicts import LIKE_THESE, NULL_VALUE
from stereometer.core.stats.anytime import Betting, anytime_interval
from stereometer.core.stats.intervals import Floats
from stereometer.core.types import Item, Score, Settings, Slice
from stereometer.core.types.results import MOST_MISSING

Ends = tuple[float, float]
NOTHING: Ends = (0.0, 100.0)
LIKE_THEM = "items like these"
STEPS = 1000
"""Means in question from 0 to 100, besides the numbers of bars."""


@dataclass(frozen=True)
class MetricPlace:
    """A metric in a slice, and how it is read from a score."""

    shape: Shape
    metric: str
    slice: Slice
    settings: Settings
    units: Mapping[str, Hashable]
    """By item, what varies as a whole with it."""
    settled: float | None = None
    """What items count that were asked and not answered, and ties; None as they are."""

    def holds(self, slices: Slice) -> bool:
        return self.slice.items() <= slices.items()

    def points(self, score: Score) -> float | None:
        if score.skipped is not None:
            return self.settled if score.unanswered else None
        points = self.shape.points(score, self.settings.variant).get(self.metric)
        return points if self.settled is None or points != NULL_VALUE else self.settled

    @property
    def is_balanced(self) -> bool:
        """Whether the ideal lies in the middle of the scale."""
        return self.shape.metric(self.metric).ideal == NULL_VALUE

    @property
    def by_terms(self) -> bool:
        """Whether every term weighs the same, whatever its items."""
        return bool(self.shape.term_by)


def unit(shape: Shape, item: Item) -> Hashable:
    """What is drawn as a whole: a term where it is known, else all items of the same texts."""
    return term(item.slices, shape.unit_by) or wording(item) or item.id


def track(
    place: MetricPlace, items: Iterable[Item], marks: Sequence[float] = ()
) -> OverWholeTerms | OverUnits:
    """Of whole units in random order. Means of terms near an end of the scale are too skewed for
    Student's t, and pairs weigh alike whatever their term: there the bets are on."""
    if place.by_terms and place.is_balanced:
        return OverWholeTerms(place)
    return OverUnits(place, items, marks)


class Doubtful:
    """With every missing answer and every tie lost, and won, where too many are missing to be left
    out."""

    def __init__(
        self, place: MetricPlace, items: Sequence[Item], marks: Sequence[float] = ()
    ) -> None:
        self.place, self.answered, self.missing = place, 0, 0
        self.plain = track(place, items, marks)
        self.lost, self.won = (
            track(replace(place, settled=points), items, marks) if place.is_balanced else self.plain
            for points in (0.0, 100.0)
        )
        self.how, self.scope = self.plain.how, self.plain.scope

    def add(self, score: Score) -> None:
        if self.place.holds(score.slices):
            self.answered += score.skipped is None
            self.missing += score.unanswered
        for each in dict.fromkeys((self.plain, self.lost, self.won)):
            each.add(score)

    def interval(self, error: float) -> Ends:
        if self.missing <= MOST_MISSING * (self.answered + self.missing):
            return self.plain.interval(error)
        return self.lost.interval(error)[0], self.won.interval(error)[1]


class ByUnit:
    """The points of whole units, in the order in which they come."""

    def __init__(self, place: MetricPlace) -> None:
        self.place = place
        self.points: dict[Hashable, list[float]] = {}

    def add(self, score: Score) -> None:
        points = self.place.points(score) if self.place.holds(score.slices) else None
        if points is not None:
            self.points.setdefault(self.place.units[score.item], []).append(points)


class OverWholeTerms(ByUnit):
    """Whole terms in random order; Student's t over their means, as an e-process."""

    how = "t e-process over target terms, holds at every look"
    scope = LIKE_THESE

    def interval(self, error: float) -> Ends:
        means = np.array([np.mean(points) for points in self.points.values()])
        ends = anytime_interval(means, 2 * error)
        return (max(0.0, ends[0]), min(100.0, ends[1])) if ends else NOTHING


class OverUnits(ByUnit):
    """Whole units of an unlimited population, in random order; bets on their means, or on their
    sums where items weigh alike.

    Under a mean m the sum S of a unit of n items is m n on average over units; so is
    m + (S - m n) / N, with N the items of the largest unit, m on average, and from 0 to 1.
    """

    def __init__(
        self, place: MetricPlace, items: Iterable[Item], marks: Sequence[float] = ()
    ) -> None:
        super().__init__(place)
        here = [item for item in items if place.holds(item.slices)]
        sizes = Counter(place.units[item.id] for item in here)
        self.grid, self.largest = _grid(marks), 1 if place.by_terms else max(sizes.values())
        self.betting = Betting(self.grid / 100)
        has_terms = any(term(item.slices, place.shape.unit_by) for item in here)
        self.scope = LIKE_THESE if has_terms else LIKE_THEM
        over = "target terms" if has_terms else "items"
        self.how = f"betting over {over}, holds at every look"

    def interval(self, error: float) -> Ends:
        means = self.betting.means
        for points in (np.array(each) / 100 for each in self.points.values()):
            over = means + (points.sum() - means * points.size) / self.largest
            self.betting.add(points.mean() if self.place.by_terms else over)
        self.points.clear()
        return _ends(self.grid, *self.betting.refuted(error))


class OverItems:
    """Items of this very set in random order, without replacement; a mean over terms weights
    them."""

    def __init__(
        self, place: MetricPlace, items: Iterable[Item], marks: Sequence[float] = ()
    ) -> None:
        here = [item.slices for item in items if place.holds(item.slices)]
        sizes = Counter(term(slices, place.shape.term_by) for slices in here)
        self.place = place
        self.weights = {each: len(here) / (len(sizes) * n) for each, n in sizes.items()}
        self.largest = max(self.weights.values(), default=1.0)
        self.grid = _grid(marks)
        self.betting = Betting(self.grid / 100 / self.largest, len(here))
        self.how = "betting without replacement, holds at every look"
        self.scope = f"the value of all {len(here):,} items"

    def add(self, score: Score) -> None:
        """An item without a score counts as lying on whatever mean is in question."""
        if not self.place.holds(score.slices):
            return
        weight = self.weights[term(score.slices, self.place.shape.term_by)]
        points = self.place.points(score)
        if points is None:
            self.betting.add(weight * self.betting.means)
        else:
            self.betting.add(weight * points / 100 / self.largest)

    def interval(self, error: float) -> Ends:
        return _ends(self.grid, *self.betting.refuted(error))


Track = OverWholeTerms | OverUnits | OverItems | Doubtful
"""A mean of points from 0 to 100, followed score by score. Of its `interval` each end errs, at some
look, in at most the share of runs that is given."""


def _grid(marks: Sequence[float]) -> Floats:
    grid = np.union1d(np.linspace(0.0, 100.0, STEPS + 1), np.array(marks, dtype=float))
    return grid[(grid >= 0) & (grid <= 100)]


def _ends(grid: Floats, low: int, high: int) -> Ends:
    """What is left of an ascending grid after so many refuted from below, and from above: just
    beyond the last of these."""
    least = np.nextafter(grid[low - 1], np.inf) if low else grid[0]
    most = np.nextafter(grid[-high], -np.inf) if high else grid[-1]
    return float(least), float(most)
