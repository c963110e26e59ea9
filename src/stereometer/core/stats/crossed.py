"""Means over items and wordings where both stand for others like them: every item is asked in every
wording, so an error of the items and one of the wordings cross (two random effects).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.special import chdtri, fdtrc, fdtri, stdtrit

from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.stats.means import LEAST_FREE, NO_SPREAD, StudentMean, effective

FEWEST_WORDINGS = 3
"""Of a set, below which nothing is known of others like them."""
Part = tuple[float, float]
"""A variance, and the degrees of freedom that it is known with."""


@dataclass(frozen=True)
class Crossed:
    """What items have (rows, by unit) in each wording (columns).

    Wordings of one set were drawn together; those of another question in words are another set.
    The number is the sum of the means over each set, times its share.
    """

    values: Floats
    weights: Floats
    """Of units; they add up to 1."""
    sets: Ints
    """The set of each wording."""
    shares: Mapping[int, float]

    @cached_property
    def _columns(self) -> list[tuple[float, Floats]]:
        return [(share, self.values[:, self.sets == at]) for at, share in self.shares.items()]

    @cached_property
    def over_units(self) -> StudentMean:
        """As if there were no other wordings."""
        total = sum(share * columns.mean(axis=1) for share, columns in self._columns)
        return StudentMean.of(np.asarray(total), self.weights)

    def _parts(self) -> Iterable[tuple[float, float, float, int]]:
        """Of every set its share, the variance between wordings, how much of that is what items do
        under one wording, and how many wordings there are."""
        wider = self.weights**2 / np.maximum(1 - self.weights, NO_SPREAD)
        for share, columns in self._columns:
            of_wording, count = self.weights @ columns, columns.shape[1]
            rest = columns - of_wording
            rest = rest - rest.mean(axis=1, keepdims=True)
            noise = float(wider @ (rest**2).sum(axis=1)) / (count - 1)
            yield share, float(of_wording.var(ddof=1)), noise, count

    @cached_property
    def _units_free(self) -> float:
        return max(effective(self.weights) - 1, LEAST_FREE)

    @cached_property
    def mean(self) -> StudentMean:
        """With the error of items and that of wordings, each counted once.

        Where wordings differ by less than items make them, they add nothing. The degrees of freedom
        are Satterthwaite's (1946).
        """
        items, units = self.over_units, self._units_free
        wordings: list[Part] = []
        noises: list[Part] = []
        for share, between, noise, count in self._parts():
            wordings.append((share**2 * between / count, count - 1))
            noises.append((share**2 * noise / count, (count - 1) * units))
        whole, both = _sum(wordings), items.error**2
        variance = max(both + whole - _sum(noises), both, whole)
        free = _free([(both, items.free), *wordings, *noises], variance)
        return StudentMean(items.value, sqrt(variance), free)

    @cached_property
    def spread(self) -> SpreadOfWordings:
        """Within the sets, taken together."""
        parts = [part[1:] for part in self._parts()]
        free = sum(count - 1 for *_, count in parts)
        between, noise = (sum(part[at] * (part[2] - 1) for part in parts) / free for at in (0, 1))
        return SpreadOfWordings(between, noise, free, free * self._units_free)

    def another(self, level: float) -> tuple[float, float]:
        """Where the mean over all items like these lies under one more wording like these."""
        error = sqrt(self.mean.error**2 + self.spread.variance)
        half = float(stdtrit(self.spread.free, (1 + level) / 2)) * error
        return self.mean.value - half, self.mean.value + half


@dataclass(frozen=True)
class SpreadOfWordings:
    """How far wordings are apart: the variance between them, and what of it the items make."""

    between: float
    noise: float
    free: float
    """Degrees of freedom of the first."""
    noise_free: float

    @property
    def variance(self) -> float:
        """Beyond what the items make."""
        return max(0.0, self.between - self.noise)

    @property
    def value(self) -> float:
        """A standard deviation."""
        return sqrt(self.variance)

    @property
    def has_noise(self) -> bool:
        return self.noise > NO_SPREAD

    @property
    def p(self) -> float:
        """That wordings differ by nothing but items (F); items that all do alike prove nothing."""
        if not self.has_noise:
            return 1.0
        return float(fdtrc(self.free, self.noise_free, self.between / self.noise))

    def interval(self, level: float) -> tuple[float, float]:
        """Of the variance beyond noise, each end by the quantile of its side (Williams 1962)."""
        low = float(fdtri(self.free, self.noise_free, (1 + level) / 2))
        high = float(chdtri(self.free, (1 + level) / 2)) / self.free
        ends = (sqrt(max(0.0, self.between / by - self.noise)) for by in (low, high))
        return next(ends), next(ends)


def _sum(parts: Iterable[Part]) -> float:
    return sum(variance for variance, _ in parts)


def _free(parts: Iterable[Part], variance: float) -> float:
    squares = sum(each**2 / free for each, free in parts)
    return max(variance**2 / squares, LEAST_FREE) if squares else LEAST_FREE
