"""Tests and corrections.

Sign test, sign-flip over fixed clusters, McNemar, Holm, Benjamini-Hochberg.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, sqrt

import numpy as np

from stereometer.stats.intervals import Floats
from stereometer.stats.means import NO_SPREAD, POWER, reach


def sign_test(wins: float, losses: float) -> float:
    """Two-sided exact binomial test that wins and losses are equally likely; ties say nothing.

    A fair coin is symmetric, so both tails are twice one; scipy.stats.binomtest gives the same at a
    hundred times the cost. As a beta function it is defined between whole numbers too.
    """
    from scipy.special import betainc

    fewer, more = sorted((wins, losses))
    return min(1.0, 2 * float(betainc(more, fewer + 1, 0.5))) if more else 1.0


def sign_interval(wins: float, losses: float, level: float) -> tuple[float, float]:
    """Of the share of wins (Clopper and Pearson): it leaves out one half where `sign_test` rejects
    at 1 - level, and only there."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(wins, losses + 1, tail)) if wins else 0.0
    return low, float(betaincinv(wins + 1, losses, 1 - tail)) if losses else 1.0


def mcnemar(gained: int, lost: int) -> float:
    """McNemar's exact test: a sign test on the pairs where two systems decide differently."""
    return sign_test(gained, lost)


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
        sums = np.zeros(1)
        for weight in np.concatenate([group[group != 0] / group.size for group in groups]):
            sums = np.concatenate([sums + weight, sums - weight])
        return float((np.abs(sums) >= abs(mean) - 1e-12).mean())
    variance = sum(float((group**2).sum()) / group.size**2 for group in groups)
    return erfc(abs(mean) / sqrt(2 * variance))


ENUMERABLE = 16
"""Deviations whose signs are flipped in all 65,536 ways at the most."""


def bootstrap_p(samples: Floats) -> float:
    """Two-sided p of a difference from its resampled distribution.

    Never smaller than 2 / (resamples + 1). Draws that are all alike prove nothing.
    """
    if np.ptp(samples) <= NO_SPREAD:
        return 1.0
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
    return reach(level, None, power) * spread
