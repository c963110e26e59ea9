"""Rank correlations: Spearman's rho, its bootstrap and permutation test, and Kendall's tau-b, many
at once."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from stereometer.core.stats.intervals import Floats

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


FEW = 48
"""Values up to which all pairs are compared at once; above, scipy's way by sorting is faster."""


def tau_b(x: Floats, y: Floats) -> Floats:
    """Along the last axis, the others broadcast; NaN where all values of one side are equal."""
    left, right = np.broadcast_arrays(
        np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    )
    n = left.shape[-1]
    rows = left.reshape(-1, n), right.reshape(-1, n)
    taus = _all_pairs(*rows) if n <= FEW else _sorted(*rows)
    return taus.reshape(left.shape[:-1])


def _all_pairs(x: Floats, y: Floats) -> Floats:
    first, second = _pairs(x.shape[-1])
    a = np.sign(x[:, first] - x[:, second])
    b = np.sign(y[:, first] - y[:, second])
    untied = np.count_nonzero(a, axis=1) * np.count_nonzero(b, axis=1).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        taus: Floats = np.where(untied > 0, np.einsum("ij,ij->i", a, b) / np.sqrt(untied), np.nan)
    return taus


@cache
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(n, 1)


def _sorted(x: Floats, y: Floats) -> Floats:
    from scipy.stats import kendalltau

    return np.array(
        [float(kendalltau(a, b, method="asymptotic").statistic) for a, b in zip(x, y, strict=True)]
    )


def tau_rows(first: Floats, second: Floats) -> Floats:
    """tau of each row with the row beside it, over the places that both have.

    NaN where those are fewer than two.
    """
    there = ~(np.isnan(first) | np.isnan(second))
    whole, enough = there.all(axis=1), there.sum(axis=1) > 1
    taus = np.full(len(first), np.nan)
    if (whole & enough).any():
        taus[whole] = tau_b(first[whole], second[whole])
    for row in np.flatnonzero(~whole & enough):
        taus[row] = float(tau_b(first[row, there[row]], second[row, there[row]]))
    return taus
