"""Confidence intervals: Wilson for proportions, percentile bootstrap for everything else."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from statistics import NormalDist
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def generator(seed: int, slice_: Mapping[str, str], purpose: str = "") -> np.random.Generator:
    """A stream of its own for each slice, so that no estimate depends on what else is computed."""
    name = repr((purpose, sorted(slice_.items())))
    return np.random.default_rng([seed, crc32(name.encode())])


def wilson(successes: float, n: int, level: float) -> tuple[float, float]:
    """Wilson's score interval of a proportion; `successes` may hold halves (ties)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def percentile(samples: Floats, level: float) -> tuple[float, float]:
    """The middle `level` of a bootstrap distribution."""
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled_clusters(count: int, resamples: int, rng: np.random.Generator) -> Ints:
    """How often each of `count` clusters is drawn in each resample: resamples x count."""
    return rng.multinomial(count, np.full(count, 1 / count), size=resamples)


def resampled_tallies(tally: Ints, resamples: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Tallies of items drawn with replacement: the categories that occur, and resamples x those categories.

    Items that fall in the same category are the same to every statistic of the tally, so drawing category
    counts is drawing items, at a cost that does not grow with their number.
    """
    present = np.flatnonzero(tally)
    total = int(tally.sum())
    return present, rng.multinomial(total, tally[present] / total, size=resamples)


Drawn = list[tuple[Ints, Ints]]
"""For each stratum the categories that occur in it, and resamples x those categories."""


def resampled_strata(tallies: Ints, resamples: int, rng: np.random.Generator, together: bool) -> Drawn:
    """Items drawn within each stratum (row of tallies), or from all of them together, where a stratum may then come out empty."""
    if not together:
        return [resampled_tallies(row, resamples, rng) for row in tallies]
    cells, drawn = resampled_tallies(tallies.ravel(), resamples, rng)
    stratum, category = np.divmod(cells, tallies.shape[1])
    return [(category[stratum == row], drawn[:, stratum == row]) for row in range(len(tallies))]


def resampled_medians(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Medians of resamples of `values`, drawn through the order statistics of uniform variables.

    The k-th smallest of n uniform draws is Beta(k, n - k + 1), and the next one, given it, is the smallest of
    n - k draws above it: exact, and free of the resamples x n table.
    """
    ordered = np.sort(values)
    n = ordered.size
    lower = (n + 1) // 2
    u = rng.beta(lower, n - lower + 1, size=resamples)
    first = ordered[np.minimum((u * n).astype(np.int64), n - 1)]
    if n % 2:
        return first
    v = u + (1 - u) * rng.beta(1, n - lower, size=resamples)
    return (first + ordered[np.minimum((v * n).astype(np.int64), n - 1)]) / 2
