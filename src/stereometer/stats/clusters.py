"""The mean over items that come in clusters, every item weighing the same: one standard error for interval and test.

The mean is a ratio, the sum of all values over their number, and both hang on which clusters were drawn. A cluster's
deviation is its sum less what the mean expects of so many items (Cochran 1977, section 11.12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from stereometer.stats.intervals import Floats


@dataclass(frozen=True)
class ClusteredMean:
    value: float
    low: float
    high: float
    p: float
    """Two-sided, that the mean is zero: below 1 - level exactly where the interval leaves zero out."""


def clustered_mean(parts: Sequence[Floats], level: float) -> ClusteredMean:
    """Of at least two clusters of values, with Student's t on one degree of freedom less than clusters."""
    from scipy.special import stdtr, stdtrit

    sums, sizes = np.array([part.sum() for part in parts]), np.array([part.size for part in parts])
    free, value = len(parts) - 1, float(sums.sum() / sizes.sum())
    error = sqrt(len(parts) / free * float(((sums - value * sizes) ** 2).sum())) / float(
        sizes.sum()
    )
    if error < 1e-12:
        return ClusteredMean(value, value, value, 1.0 if abs(value) < 1e-12 else 0.0)
    half = float(stdtrit(free, (1 + level) / 2)) * error
    return ClusteredMean(
        value, value - half, value + half, float(2 * stdtr(free, -abs(value) / error))
    )
