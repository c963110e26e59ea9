"""Tests and corrections.

Sign test, t over clusters, sign-flip over fixed clusters, McNemar, Holm, Benjamini-Hochberg.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, sqrt
from statistics import NormalDist

import numpy as np

from stereometer.stats.intervals import Floats
from stereometer.stats.means import POWER, StudentMean


def sign_test(wins: int, losses: int) -> float:
    """Two-sided exact binomial test that wins and losses are equally likely; ties say nothing.

    A fair coin is symmetric, so both tails are twice one; scipy.stats.binomtest gives the same at a
    hundred times the cost.
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5)))


def mcnemar(gained: int, lost: int) -> float:
    """McNemar's exact test: a sign test on the pairs where two systems decide differently."""
    return sign_test(gained, lost)


def t_test(values: Floats) -> float:
    """Two-sided one-sample t test that the mean of `values`, one a cluster, is zero."""
    return StudentMean.of(values).p()


def sign_flip(groups: Sequence[Floats]) -> float:
    """Two-sided test that deviations within fixed groups are symmetric about zero.

    Groups weigh equally. Under that hypothesis every deviation could as well have the other sign.
    One group of equal deviations is an exact sign test; a few deviations are flipped in every way;
    many are taken as normal, with the variance of the flips.
    """
    deviations = np.concatenate(groups)
    moved = deviations[deviations != 0]
    if moved.size == 0:
        return 1.0
    if len(groups) == 1 and np.ptp(np.abs(moved)) == 0:
        return sign_test(int((moved > 0).sum()), int((moved < 0).sum()))
    mean = sum(float(group.mean()) for group in groups)
    if moved.size <= ENUMERABLE:
        return _every_flip(
            np.concatenate([group[group != 0] / group.size for group in groups]), abs(mean)
        )
    variance = sum(float((group**2).sum()) / group.size**2 for group in groups)
    return erfc(abs(mean) / sqrt(2 * variance))


ENUMERABLE = 16
"""Deviations whose signs are flipped in all 65,536 ways at the most."""


def _every_flip(weights: Floats, reached: float) -> float:
    sums = np.zeros(1)
    for weight in weights:
        sums = np.concatenate([sums + weight, sums - weight])
    return float((np.abs(sums) >= reached - 1e-12).mean())


def bootstrap_p(samples: Floats) -> float:
    """Two-sided p of a difference from its resampled distribution.

    Never smaller than 2 / (resamples + 1).
    """
    below, above = int((samples <= 0).sum()), int((samples >= 0).sum())
    return min(1.0, 2 * (1 + min(below, above)) / (samples.size + 1))


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given."""
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = largest
    return adjusted


def false_discovery(p: Floats | Sequence[float]) -> Floats:
    """Benjamini and Hochberg's adjusted p, in the order given."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values)[::-1]
    ranks = np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(values[order] * values.size / ranks))
    return adjusted


def detectable(spread: float, level: float, power: float = POWER) -> float:
    """The smallest true difference that a two-sided test at `level` finds with this power.

    From its standard error.
    """
    normal = NormalDist()
    return (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) * spread
