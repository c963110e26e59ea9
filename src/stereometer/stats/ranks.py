"""Rank correlation: Spearman's rho, its bootstrap and a permutation test."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from stereometer.stats.intervals import Floats

EXACT = 7
"""Up to this many points every order is tried: 5,040 at the most."""


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's rho along the last axis, ties sharing their mean rank.

    NaN where all values of one side are equal.
    """
    from scipy.stats import rankdata

    left, right = rankdata(x, axis=-1), rankdata(y, axis=-1)
    left, right = (
        left - left.mean(axis=-1, keepdims=True),
        right - right.mean(axis=-1, keepdims=True),
    )
    size = np.sqrt((left**2).sum(axis=-1) * (right**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        rho: Floats = np.where(size > 0, (left * right).sum(axis=-1) / size, np.nan)
    return rho


def resampled_points(x: Floats, y: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """rho of points drawn with replacement; draws in which it is not defined are left out."""
    drawn = rng.integers(0, x.size, size=(resamples, x.size))
    rhos = spearman(x[drawn], y[drawn])
    return rhos[~np.isnan(rhos)]


def permutation_p(x: Floats, y: Floats, resamples: int, rng: np.random.Generator) -> float:
    """Two-sided p that the order of y has nothing to do with x."""
    every = orders(x.size, factorial(EXACT), resamples, rng)
    rhos = np.abs(spearman(np.broadcast_to(x, every.shape), y[every]))
    return float(np.mean(rhos >= rhos[0] - 1e-12))


def orders(count: int, most: int, drawn: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Every order of so many things, where there are at most `most`, or their own and others drawn
    at random; their own first."""
    if factorial(count) <= most:
        return np.array(list(permutations(range(count))))
    own = np.arange(count)
    return np.concatenate([own[None], rng.permuted(np.tile(own, (drawn, 1)), axis=1)])
