"""Kendall's tau-b, many at once."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from stereometer.stats.intervals import Floats

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
