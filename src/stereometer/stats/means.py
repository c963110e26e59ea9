"""Means of few values: interval, test and detectable difference from one standard error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import stdtr, stdtrit

from stereometer.stats.intervals import Floats

NO_SPREAD = 1e-12
POWER = 0.80
"""With which a detectable difference is found."""


@dataclass(frozen=True)
class StudentMean:
    """A mean, its standard error and the degrees of freedom that this is known with."""

    value: float
    error: float
    free: int

    @classmethod
    def of(cls, values: Floats) -> StudentMean:
        """Of at least two values."""
        n = values.size
        return cls(float(values.mean()), float(values.std(ddof=1)) / sqrt(n), n - 1)

    @classmethod
    def clustered(cls, sums: Floats, sizes: Floats) -> StudentMean:
        """Of at least two clusters, every item weighing the same."""
        return cls.of(shares(sums, sizes))

    @property
    def has_spread(self) -> bool:
        return self.error > NO_SPREAD

    def interval(self, level: float) -> tuple[float, float]:
        half = float(stdtrit(self.free, (1 + level) / 2)) * self.error
        return self.value - half, self.value + half

    def p(self, null: float = 0.0) -> float:
        """Two-sided, below 1 - level just where the interval leaves the null value out."""
        away = abs(self.value - null)
        if not self.has_spread:
            return 1.0 if away < NO_SPREAD else 0.0
        return float(2 * stdtr(self.free, -away / self.error))

    def detectable(self, level: float, power: float = POWER) -> float:
        """The smallest true difference that the two-sided test finds with this power."""
        quantiles = stdtrit(self.free, (1 + level) / 2) + stdtrit(self.free, power)
        return float(quantiles) * self.error


def shares(sums: Floats, sizes: Floats) -> Floats:
    """One value a cluster: their mean is the mean of all items, their spread its spread.

    That mean is a ratio, the sum of all values over their number, and both hang on which clusters
    were drawn. A cluster's deviation is its sum less what the mean expects of so many items
    (Cochran 1977, section 11.12).
    """
    total = sizes.sum()
    mean = sums.sum() / total
    values: Floats = mean + len(sums) * (sums - mean * sizes) / total
    return values


def t_interval(values: Floats, level: float) -> tuple[float, float]:
    """Of the mean of at least two values."""
    return StudentMean.of(values).interval(level)


def clustered(parts: Sequence[Floats]) -> StudentMean:
    """Of the items in at least two clusters."""
    return StudentMean.clustered(
        np.array([part.sum() for part in parts]), np.array([float(part.size) for part in parts])
    )
