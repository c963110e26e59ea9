"""Means of few values: Student's interval."""

from __future__ import annotations

from math import sqrt

from stereometer.stats.intervals import Floats


def t_interval(values: Floats, level: float) -> tuple[float, float]:
    """Of the mean of at least two values."""
    from scipy.special import stdtrit

    half = (
        float(stdtrit(values.size - 1, (1 + level) / 2))
        * float(values.std(ddof=1))
        / sqrt(values.size)
    )
    mean = float(values.mean())
    return mean - half, mean + half
