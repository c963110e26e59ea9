"""icat is the smaller of lms x ss / 50 and lms x (100 - ss) / 50: two sides that bend nowhere.

Each side has an interval of its own, and icat one from the smaller ends. A difference of two icats
is, whichever sides they are, the smallest over the second's of the largest over the first's of
their differences, and just as well the largest of the smallest; so both its ends come from the
intervals of all four. Sides that merely look smaller do not hold it where both systems are near 50
and alike: such an interval covered .80.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stereometer.shapes.verdicts import SAME
from stereometer.stats.intervals import Floats, percentile
from stereometer.stats.means import StudentMean
from stereometer.stats.tests import bootstrap_p, detectable

Ends = tuple[float, float]
Sides = tuple[Floats, Floats]


def sides(lms: Floats, ss: Floats) -> Sides:
    return lms * ss / 50, lms * (100 - ss) / 50


def side_values(lms: Floats, ss: Floats, weights: Floats | None = None) -> Sides:
    """Of each side one value per term, from such values of lms and ss: their mean is the side,
    their spread its spread to the first order."""
    middle, at = (float(np.average(of, weights=weights)) for of in (lms, ss))
    return (
        (middle * ss + at * (lms - middle)) / 50,
        (middle * (100 - ss) + (100 - at) * (lms - middle)) / 50,
    )


def smaller(ends: Iterable[Ends]) -> Ends:
    lows, highs = zip(*ends, strict=True)
    return min(lows), min(highs)


@dataclass(frozen=True)
class Drawn:
    """Known from draws of items, where terms are held fixed."""

    draws: Floats
    free = None

    @cached_property
    def value(self) -> float:
        return float(np.median(self.draws))

    def interval(self, level: float) -> Ends:
        return percentile(self.draws, level)

    def p(self) -> float:
        return bootstrap_p(self.draws)

    def detectable(self, level: float) -> float:
        return detectable(float(self.draws.std()), level)


Known = StudentMean | Drawn
"""A difference of two sides, and how far it may be off."""


@dataclass(frozen=True)
class Gap:
    """The difference of two icats; `cells[i][j]` is the second's side j less the first's side i."""

    cells: Sequence[Sequence[Known]]

    @classmethod
    def of(cls, known: Callable[[Floats], Known], first: Sides, second: Sides) -> Gap:
        """From one value per term of each side, or from the same draws of items for both."""
        return cls([[known(after - before) for after in second] for before in first])

    @property
    def turned(self) -> list[tuple[Known, ...]]:
        return list(zip(*self.cells, strict=True))

    def interval(self, level: float) -> Ends:
        return (
            max(min(cell.interval(level)[0] for cell in row) for row in self.cells),
            min(max(cell.interval(level)[1] for cell in column) for column in self.turned),
        )

    def p(self) -> float:
        """That there is none: below 1 - level just where the interval leaves 0 out."""
        above = min(max(_one_way(cell, 1) for cell in row) for row in self.cells)
        below = min(max(_one_way(cell, -1) for cell in column) for column in self.turned)
        return min(above, below)

    @property
    def has_spread(self) -> bool:
        low, high = self.nearest.interval(0.5)
        return high - low > SAME or self.nearest.value == 0

    @property
    def nearest(self) -> Known:
        """Of the sides that are the smaller ones as far as is known."""
        row = max(self.cells, key=lambda cells: cells[0].value)
        return min(row, key=lambda cell: cell.value)


def _one_way(cell: Known, sign: int) -> float:
    return cell.p() if cell.value * sign > 0 else 1.0
