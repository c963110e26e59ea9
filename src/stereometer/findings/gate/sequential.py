"""What is known of one metric in one slice while items come in: intervals that hold at every look.

Over terms the claim is about terms like these, over items about the value that all of them would
give (docs/decisions/0023-early-stopping.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from stereometer.shapes.shape import Shape
from stereometer.shapes.verdicts import LIKE_THESE
from stereometer.stats.betting import Betting
from stereometer.stats.e_values import anytime_interval
from stereometer.types import Item, Score, Settings, Slice

Ends = tuple[float, float]
NOTHING: Ends = (0.0, 100.0)
STEPS = 1000
"""Means in question from 0 to 100, besides the numbers of bars."""


class Track(Protocol):
    """A mean of points from 0 to 100, followed score by score."""

    how: str
    scope: str

    def add(self, score: Score) -> None: ...

    def interval(self) -> Ends: ...


class Place:
    """A metric in a slice, and how it is read from a score."""

    def __init__(self, shape: Shape, metric: str, slice_: Slice, settings: Settings) -> None:
        self.shape, self.metric, self.slice, self.settings = shape, metric, slice_, settings

    def holds(self, slices: Slice) -> bool:
        return self.slice.items() <= slices.items()

    def term(self, slices: Slice) -> tuple[str, ...]:
        return tuple(slices[name] for name in self.shape.term_by)

    def points(self, score: Score) -> float | None:
        if score.skipped is not None:
            return None
        return self.shape.points(score, self.settings.variant).get(self.metric)


class OverTerms:
    """Whole terms in random order; Student's t over their means, as an e-process."""

    how = "t e-process over target terms, holds at every look"
    scope = LIKE_THESE

    def __init__(self, place: Place) -> None:
        self.place = place
        self.terms: dict[tuple[str, ...], list[float]] = {}

    def add(self, score: Score) -> None:
        points = self.place.points(score) if self.place.holds(score.slices) else None
        if points is not None:
            self.terms.setdefault(self.place.term(score.slices), []).append(points)

    def interval(self) -> Ends:
        means = np.array([np.mean(points) for points in self.terms.values()])
        ends = anytime_interval(means, 1 - self.place.settings.level)
        return (max(0.0, ends[0]), min(100.0, ends[1])) if ends else NOTHING


class OverItems:
    """Items in random order, without replacement; a mean over terms weights them."""

    def __init__(self, place: Place, items: Iterable[Item], marks: Sequence[float] = ()) -> None:
        here = [item.slices for item in items if place.holds(item.slices)]
        sizes = Counter(map(place.term, here))
        self.place, self.marks = place, marks
        self.weights = {term: len(here) / (len(sizes) * n) for term, n in sizes.items()}
        self.largest = max(self.weights.values(), default=1.0)
        grid = np.union1d(np.linspace(0.0, 100.0, STEPS + 1), np.array(marks, dtype=float))
        self.grid = grid[(grid >= 0) & (grid <= 100)]
        self.betting = Betting(self.grid / 100 / self.largest, len(here))
        level = place.settings.level
        self.how = f"betting without replacement, holds at every look, each end at {level:.0%}"
        self.scope = f"the value of all {len(here):,} items"

    def add(self, score: Score) -> None:
        """An item without a score counts as lying on whatever mean is in question."""
        if not self.place.holds(score.slices):
            return
        weight, points = self.weights[self.place.term(score.slices)], self.place.points(score)
        if points is None:
            self.betting.add(weight * self.betting.means)
        else:
            self.betting.add(weight * points / 100 / self.largest)

    def interval(self) -> Ends:
        error = 1 - self.place.settings.level
        low, high = self.betting.refuted(error)
        return _just_above(self.grid, low), -_just_above(-self.grid[::-1], high)


def _just_above(grid: np.ndarray[tuple[int], np.dtype[np.float64]], refuted: int) -> float:
    """Of so many first numbers that are refuted, just above the last; else the first of all."""
    return float(np.nextafter(grid[refuted - 1], np.inf)) if refuted else float(grid[0])
