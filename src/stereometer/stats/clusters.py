"""The mean over items that come in clusters, every item weighing the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from stereometer.stats.intervals import (
    Floats,
    resampled_clusters,
    unless_unanimous,
    wilson_percent,
)


@dataclass(frozen=True)
class ClusteredMean:
    value: float
    low: float
    high: float
    p: float
    """Two-sided, that the mean is zero: below 1 - level just where the interval leaves zero out."""


def clustered_mean(parts: Sequence[Floats], level: float) -> ClusteredMean:
    """Of at least two clusters, one standard error for interval and test, Student's t.

    The mean is a ratio, the sum of all values over their number, and both hang on which clusters
    were drawn. A cluster's deviation is its sum less what the mean expects of so many items
    (Cochran 1977, section 11.12). There is one degree of freedom less than clusters.
    """
    from scipy.special import stdtr, stdtrit

    sums, sizes = np.array([part.sum() for part in parts]), np.array([part.size for part in parts])
    free, value = len(parts) - 1, float(sums.sum() / sizes.sum())
    spread = float(((sums - value * sizes) ** 2).sum())
    error = sqrt(len(parts) / free * spread) / float(sizes.sum())
    if error < 1e-12:
        return ClusteredMean(value, value, value, 1.0 if abs(value) < 1e-12 else 0.0)
    half = float(stdtrit(free, (1 + level) / 2)) * error
    p = float(2 * stdtr(free, -abs(value) / error))
    return ClusteredMean(value, value - half, value + half, p)


def clustered_percent(
    parts: Sequence[Sequence[float]],
    resamples: int,
    level: float,
    rng: np.random.Generator,
    noun: str,
) -> dict[str, Any]:
    """A share in percent with its interval, clusters resampled, as the fields of an estimate.

    `noun` is what the clusters are called.
    """
    sums, sizes = np.array(list(map(sum, parts))), np.array(list(map(len, parts)))
    weights = resampled_clusters(len(parts), resamples, rng)
    value = 100 * float(sums.sum() / sizes.sum())
    draws = 100 * (weights @ sums) / (weights @ sizes)
    return percent_fields(value, draws, len(parts), level, noun)


def percent_fields(
    value: float, draws: Floats, count: int, level: float, noun: str
) -> dict[str, Any]:
    """A share in percent with the interval of its draws, or Wilson's where all of them agree."""
    low, high, unanimous = unless_unanimous(
        draws, level, lambda: wilson_percent(value, count, level)
    )
    how = f"Wilson: all {noun} agree" if unanimous else f"percentile bootstrap over {noun}"
    return {"value": value, "low": low, "high": high, "interval": how}
