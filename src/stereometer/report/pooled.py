"""Estimates of several parts drawn together, by how little is known of each."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from stereometer.core.stats.intervals import Floats

FEWEST = 4
"""Parts below which the variance between them is not known well enough."""


def between(values: Floats, errors: Floats) -> float:
    """The variance of the true values of parts (Paule and Mandel 1982): the one at which the
    weighted squares about the weighted mean are what chance gives; 0 where chance alone would
    differ as much."""
    from scipy.optimize import brentq

    def excess(variance: float) -> float:
        weights = 1 / (errors**2 + variance)
        middle = weights @ values / weights.sum()
        return float(weights @ (values - middle) ** 2) - (values.size - 1)

    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, float(values.size * np.ptp(values) ** 2)))


def partly_pooled(values: Floats, errors: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Of at least FEWEST parts: value, low and high, each drawn toward the weighted mean by how
    little it is known. Its variance allows for a mean and a variance between parts that are
    themselves estimated (as in Morris 1983)."""
    count, variance = values.size, between(values, errors)
    weights = 1 / (errors**2 + variance)
    middle = weights @ values / weights.sum()
    shrinkage = errors**2 * weights
    moved = shrinkage * (values - middle)
    spread = np.sqrt(
        errors**2 * (1 - shrinkage) + shrinkage**2 / weights.sum() + 2 / (count - 1) * moved**2
    )
    half = float(stdtrit(count - 1, (1 + level) / 2)) * spread
    return values - moved, values - moved - half, values - moved + half
