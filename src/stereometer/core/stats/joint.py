"""Readings of the same items tested together: whole clusters change sign, the same for all readings
(Simonsohn, Simmons and Nelson 2020, with the flips of a paired design)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from stereometer.core.stats.intervals import Floats
from stereometer.core.stats.means import LEAST_FREE

ENUMERABLE = 12
"""Clusters whose signs are flipped in all 4,096 ways at the most."""
HELD = 2_000_000
"""Signs held at once."""
ROUNDING = 1e-9
BOUNDLESS = 1e12
"""Stands for the t of clusters that are all alike."""


@dataclass(frozen=True)
class Joint:
    """What all readings say together, and each of them among the others."""

    t: Floats
    """Of each reading."""
    median: float
    p_median: float
    share: float
    """Of readings significant on their own, in the direction of more of them."""
    p_share: float
    p_adjusted: Floats
    """Of each reading: how often the largest t of all is as large as its own."""
    flips: int
    least: float
    """No p can be smaller."""


def joint_test(
    sums: Floats, sizes: Floats, resamples: int, rng: np.random.Generator, level: float = 0.95
) -> Joint:
    """Columns are readings, rows clusters: sums of signed values, and how much a cluster weighs.

    Exact where swapping the two labels of a cluster changes nothing but the sign.
    """
    observed = t_values(sums, sizes, np.ones((1, len(sums))))[0]
    weights = sizes / sizes.sum(axis=0)
    free = np.maximum(1 / (weights**2).sum(axis=0) - 1, LEAST_FREE)
    critical = stdtrit(free, (1 + level) / 2)
    reached = _statistics(observed[None], critical)
    exact = len(sums) <= ENUMERABLE
    beyond, largest, flips = np.zeros(2), np.zeros(observed.size), 0
    for signs in [every_sign(len(sums))] if exact else _drawn_signs(len(sums), resamples, rng):
        t = t_values(sums, sizes, signs)
        beyond += (_statistics(t, critical) >= reached - ROUNDING).sum(axis=0)
        most = np.abs(t).max(axis=1)
        largest += (most[:, None] >= np.abs(observed) * (1 - ROUNDING)).sum(axis=0)
        flips += len(signs)
    more = 0 if exact else 1  # what was observed is one of all ways, and is added to those drawn
    p_median, p_share = (float(p) for p in (beyond + more) / (flips + more))
    return Joint(
        observed,
        float(np.median(observed)),
        p_median,
        float(reached[0, 1]) / observed.size,
        p_share,
        (largest + more) / (flips + more),
        flips,
        2 / flips if exact else 1 / (flips + 1),
    )


def t_values(sums: Floats, sizes: Floats, signs: Floats) -> Floats:
    """The t of every reading under every row of signs, as `PerUnit.mean` has it."""
    weight = sizes.sum(axis=0)
    mean = signs @ sums / weight
    wider = 1 / np.maximum(1 - sizes / weight, ROUNDING)
    squares = (
        (sums**2 * wider).sum(axis=0)
        - 2 * mean * (signs @ (sums * sizes * wider))
        + mean**2 * (sizes**2 * wider).sum(axis=0)
    )
    error = np.sqrt(np.maximum(squares, 0.0)) / weight
    known = error > ROUNDING
    t: Floats = np.where(known, mean / np.where(known, error, 1.0), BOUNDLESS * np.sign(mean))
    return t


def _statistics(t: Floats, critical: Floats) -> Floats:
    """Of every row the size of the median, and how many readings are significant on the side that
    has more of them."""
    above, below = (t > critical).sum(axis=1), (t < -critical).sum(axis=1)
    return np.stack([np.abs(np.median(t, axis=1)), np.maximum(above, below)], axis=1)


def every_sign(clusters: int) -> Floats:
    places = np.arange(2**clusters)[:, None] >> np.arange(clusters)
    return (1 - 2 * (places & 1)).astype(np.float64)


def _drawn_signs(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    step = max(1, HELD // clusters)
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        yield (1 - 2 * rng.integers(0, 2, size=(count, clusters))).astype(np.float64)
