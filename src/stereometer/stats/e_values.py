"""A mean of normal values, tested as they come in, however often one looks.

The t e-process (Perez-Ortiz et al. 2024): with n values, r = c / (n + c) and t the statistic of
Student's test against a mean,

    e = sqrt(r) [(1 + t^2 / (n - 1)) / (1 + r t^2 / (n - 1))]^(n / 2).

Under that mean e ever reaches 1 / error with at most that probability.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from stereometer.stats.intervals import Floats
from stereometer.stats.means import StudentMean

LEAST = 5
"""Values before the first look."""
PRIOR = 1.0
"""c, the weight of the prior on the effect, in values."""


def largest_t(n: int, error: float) -> float | None:
    """The t at which e is 1 / error; None where no t reaches it."""
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
