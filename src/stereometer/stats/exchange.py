"""Two samples whose members could as well stand on the other side: the exact permutation test."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from stereometer.stats.intervals import Floats

SPLITS = 20_000
"""Ways to divide the members up to which all are tried; of more, so many are drawn."""
ROUNDING = 1e-12


def exchange_p(first: Floats, second: Floats, rng: np.random.Generator) -> float:
    """Two-sided p of the difference of two means: the share of divisions that are as far apart."""
    values = np.concatenate([first, second])
    away = values - values.mean()
    sums = np.abs(away[_divisions(values.size, first.size, rng)].sum(axis=1))
    return float(np.mean(sums >= abs(away[: first.size].sum()) - ROUNDING))


def least_p(first: int, second: int) -> float:
    """No p of so many members can be smaller: sides of one size may also change places."""
    return (1 + (first == second)) / comb(first + second, first)


def _divisions(count: int, chosen: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Places of the members on the first side, a row per division; the true one first."""
    if comb(count, chosen) <= SPLITS:
        return np.array(list(combinations(range(count), chosen)))
    drawn = rng.permuted(np.tile(np.arange(count), (SPLITS, 1)), axis=1)[:, :chosen]
    return np.concatenate([np.arange(chosen)[None], drawn])
