"""However often one looks: means tested by betting, and normal means by a t process."""

from __future__ import annotations

from math import sqrt

import numpy as np

from stereometer.core.stats.intervals import Floats
from stereometer.core.stats.means import StudentMean

BOLDEST = 0.75
"""The share of a capital that may be lost with one item."""
CERTAIN = 1e-9
"""Sums closer than this to a bound have not passed it."""


class Betting:
    """Means of bounded values, tested one by one in random order (Waudby-Smith and Ramdas 2024).

    Two capitals for each mean in question; values and means are from 0 to 1. For every mean two
    gamblers bet on each next value, one that the mean is larger, one that it is smaller. Under the
    mean in question neither can expect to win, so that a capital of 1 / error is reached with at
    most that probability, at whatever time one looks. Of a finite set values are drawn without
    replacement, and what is left must still give the mean; of an unlimited population the mean in
    question stays where it is.
    """

    def __init__(self, means: Floats, population: int | None = None) -> None:
        self.means, self.population, self.count = means, population, 0
        self.total: Floats = np.zeros(means.shape)
        self.squares: Floats = np.zeros(means.shape)
        self._above, self._below = np.ones(means.shape), np.ones(means.shape)
        self.above, self.below = np.ones(means.shape), np.ones(means.shape)
        """The largest capitals so far of those who bet that the mean is above, or below."""

    def add(self, values: Floats | float) -> None:
        """The next item: one value, or one for each mean in question."""
        expected = self._expected()
        up, down = self._bets(expected)
        with np.errstate(over="ignore"):
            self._above = self._above * (1 + up * (values - expected))
            self._below = self._below * (1 - down * (values - expected))
        self.count += 1
        self.total = self.total + values
        self.squares = self.squares + (values - (0.5 + self.total) / (1 + self.count)) ** 2
        self._settle()
        self.above = np.maximum(self.above, self._above)
        self.below = np.maximum(self.below, self._below)

    def _expected(self) -> Floats:
        """Of the next value, under each mean in question."""
        if self.population is None:
            return self.means
        return (self.population * self.means - self.total) / (self.population - self.count)

    def _bets(self, expected: Floats) -> tuple[Floats, Floats]:
        """From past items alone: the growth that they promise, and no more than is bold."""
        past = 1 + self.count
        mean, variance = (0.5 + self.total) / past, (0.25 + self.squares) / past
        away = mean - expected
        growth = away / (variance + away**2)
        up = np.clip(growth, 0, BOLDEST / np.maximum(expected, CERTAIN))
        down = np.clip(-growth, 0, BOLDEST / np.maximum(1 - expected, CERTAIN))
        inside = (expected >= 0) & (expected <= 1)
        return np.where(inside, up, 0.0), np.where(inside, down, 0.0)

    def _settle(self) -> None:
        """A mean that the items left cannot give any more is refuted for certain."""
        if self.population is None:
            return
        owed = self.population * self.means - self.total
        self._above = np.where(owed < -CERTAIN, np.inf, self._above)
        self._below = np.where(owed > self.population - self.count + CERTAIN, np.inf, self._below)

    def refuted(self, error: float) -> tuple[int, int]:
        """How many of ascending means in question are refuted from below, and from above: what is
        left between is an interval of which each end errs with at most `error`."""
        return _first(self.above >= 1 / error), _first(self.below[::-1] >= 1 / error)


def _first(refuted: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    """How many are refuted before the first that is not."""
    return len(refuted) if refuted.all() else int(np.argmin(refuted))


LEAST = 5
"""Values before the first look."""
PRIOR = 1.0
"""c, the weight of the prior on the effect, in values."""


def largest_t(n: int, error: float) -> float | None:
    """The t at which e is 1 / error; None where no t reaches it.

    The t e-process (Perez-Ortiz et al. 2024): with n values, r = c / (n + c) and t the statistic of
    Student's test against a mean,

        e = sqrt(r) [(1 + t^2 / (n - 1)) / (1 + r t^2 / (n - 1))]^(n / 2).

    Under that mean e ever reaches 1 / error with at most that probability.
    """
    r = PRIOR / (n + PRIOR)
    ratio = (1 / (error * sqrt(r))) ** (2 / n)
    return sqrt((n - 1) * (ratio - 1) / (1 - ratio * r)) if ratio * r < 1 else None


def anytime_interval(values: Floats, error: float) -> tuple[float, float] | None:
    """All means that e has not refuted; None while nothing is: too few values, or all alike."""
    if values.size < LEAST:
        return None
    mean, most = StudentMean.of(np.asarray(values, dtype=float)), largest_t(values.size, error)
    if most is None or not mean.has_spread:
        return None
    return mean.value - most * mean.error, mean.value + most * mean.error
