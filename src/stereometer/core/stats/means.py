"""Means of few values: interval, test and detectable difference from one standard error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from stereometer.core.stats.intervals import Floats, Ints, score_interval

NO_SPREAD = 1e-12
LEAST_FREE = 0.1
"""Degrees of freedom of clusters of which one has nearly all items: an interval without an end."""
POWER = 0.80
"""With which a detectable difference is found."""


@dataclass(frozen=True)
class StudentMean:
    """A mean, its standard error and the degrees of freedom that this is known with."""

    value: float
    error: float
    free: float

    @classmethod
    def of(cls, values: Floats, weights: Floats | None = None) -> StudentMean:
        """Of at least two values; `weights`, which add up to 1, where they do not weigh alike.

        A large cluster pulls the mean towards itself, so that its deviation is too small by its own
        weight: each is widened by 1 / (1 - w) (CR2, Bell and McCaffrey 2002).
        """
        n = values.size
        if weights is None:
            return cls(float(values.mean()), float(values.std(ddof=1)) / sqrt(n), n - 1)
        mean = float(weights @ values)
        parts = (weights * (values - mean)) ** 2 / np.maximum(1 - weights, NO_SPREAD)
        return cls(mean, sqrt(float(parts.sum())), max(effective(weights) - 1, LEAST_FREE))

    @property
    def has_spread(self) -> bool:
        """Values that differ by rounding alone have none."""
        return self.error > NO_SPREAD * max(1.0, abs(self.value))

    def interval(self, level: float) -> tuple[float, float]:
        half = float(stdtrit(self.free, (1 + level) / 2)) * self.error
        return self.value - half, self.value + half

    def percent(self, level: float) -> tuple[float, float]:
        """The interval of a mean that can only be from 0 to 100."""
        low, high = self.interval(level)
        return max(0.0, low), min(100.0, high)

    def p(self, null: float = 0.0) -> float:
        """Two-sided, below 1 - level just where the interval leaves the null value out. Values that
        are all alike prove nothing."""
        if not self.has_spread:
            return 1.0
        return float(2 * stdtr(self.free, -abs(self.value - null) / self.error))

    def detectable(self, level: float, power: float = POWER) -> float:
        """The smallest true difference that the two-sided test finds with this power."""
        return reach(level, self.free, power) * self.error


def reach(level: float, free: float | None, power: float = POWER) -> float:
    """How many standard errors a true difference must measure for a two-sided test to find it with
    this power: Student's test, or a normal one where `free` is None."""
    ends = np.array([(1 + level) / 2, power])
    return float((ndtri(ends) if free is None else stdtrit(free, ends)).sum())


def among(tests: int, seen: float, level: float, free: float | None) -> float:
    """What one of so many tests finds, from what it would find alone: at Holm's first step."""
    return seen * reach(1 - (1 - level) / tests, free) / reach(level, free)


@dataclass(frozen=True)
class StudentShare:
    """A mean of shares in percent that may lie at an end of the scale, where t leaves it.

    Wilson's interval of as many independent items as the spread over clusters shows, at most all
    `n` of them, and with Student's quantile; where clusters are all alike, of one item a cluster.
    """

    mean: StudentMean
    n: int

    @property
    def items(self) -> float:
        share = self.mean.value / 100
        if not self.mean.has_spread:
            return self.mean.free + 1
        return min(self.n, share * (1 - share) / (self.mean.error / 100) ** 2)

    def interval(self, level: float) -> tuple[float, float]:
        t = float(stdtrit(self.mean.free, (1 + level) / 2))
        low, high = score_interval(self.mean.value / 100, self.items, t)
        return 100 * low, 100 * high

    def p(self, null: float) -> float:
        """Two-sided, below 1 - level just where the interval leaves the null value out."""
        away, error = abs(self.mean.value - null), sqrt(null * (100 - null) / self.items)
        return float(2 * stdtr(self.mean.free, -away / error))


def known_means(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Means along an axis without NaN; NaN where nothing else is there."""
    with np.errstate(invalid="ignore"):
        means: Floats = np.nansum(values, axis=axis) / (~np.isnan(values)).sum(axis=axis)
    return means


def weighted_means(rows: Floats, weights: Floats | Ints) -> Floats:
    """Means of the columns by each row of weights, without NaN: weights x columns."""
    known = ~np.isnan(rows)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = (weights @ np.where(known, rows, 0.0)) / (weights @ known)
    return means


def effective(weights: Floats) -> float:
    """As how many clusters of equal weight clusters of these weights count (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())


class PerUnit(NamedTuple):
    """By unit, the sum of what its items add and how much they weigh: items of a unit vary
    together, so that every mean is over units."""

    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, units: Ints, values: Floats) -> PerUnit:
        """From the number of each item's unit, and its value: NaN where it has none."""
        known, count = ~np.isnan(values), int(units.max()) + 1
        both = (np.bincount(units[known], of[known], count) for of in (values, np.ones(len(units))))
        return cls(*(of.astype(np.float64) for of in both))

    @property
    def alike(self) -> PerUnit:
        """With the mean of each unit, which weighs 1 whatever its items."""
        there = self.sizes > 0
        means = np.where(there, self.sums / np.maximum(self.sizes, 1.0), 0.0)
        return PerUnit(means, there.astype(np.float64))

    @property
    def value(self) -> float:
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def mean(self) -> StudentMean:
        """Of at least two units."""
        there = self.sizes > 0
        sums, sizes = self.sums[there], self.sizes[there]
        return StudentMean.of(sums / sizes, sizes / sizes.sum())

    def values(self, weights: Floats) -> Floats:
        """One value per unit, to be averaged with these weights: their mean is the mean of all
        items, their spread its spread.

        That mean is a ratio, the sum of all values over their number, and both depend on which
        units were drawn. A unit's deviation is its sum less what the mean expects of so many items
        (Cochran 1977, section 11.12).
        """
        deviations = (self.sums - self.value * self.sizes) / self.sizes.sum()
        values: Floats = self.value + deviations / weights
        return values


def together(columns: Sequence[PerUnit]) -> tuple[list[Floats], Floats]:
    """Of each column one value per unit, and what units weigh on average over the columns."""
    weights = np.mean([each.sizes / each.sizes.sum() for each in columns], axis=0)
    there = weights > 0
    here = [PerUnit(each.sums[there], each.sizes[there]) for each in columns]
    return [each.values(weights[there]) for each in here], weights[there]
