"""Confidence intervals: Wilson for proportions, percentile bootstrap for everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import NormalDist
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def generator(seed: int, slice_: Mapping[str, str], purpose: str = "") -> np.random.Generator:
    """A stream of its own for each slice, so that no estimate depends on what else is computed."""
    name = repr((purpose, sorted(slice_.items())))
    return np.random.default_rng([seed, crc32(name.encode())])


def wilson(successes: float, n: float, level: float) -> tuple[float, float]:
    """Wilson's score interval of a proportion; `successes` may hold halves (ties)."""
    return score_interval(successes / n, n, NormalDist().inv_cdf((1 + level) / 2))


def score_interval(share: float, n: float, z: float) -> tuple[float, float]:
    """All proportions that are at most z standard errors, as each of them has it, from `share`."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if share == 0 else max(0.0, middle - half)
    return low, 1.0 if share == 1 else min(1.0, middle + half)


def wilson_percent(percent: float, n: float, level: float) -> tuple[float, float]:
    """Wilson's interval of a share in percent."""
    low, high = score_interval(percent / 100, n, NormalDist().inv_cdf((1 + level) / 2))
    return 100 * low, 100 * high


def percentile(samples: Floats, level: float) -> tuple[float, float]:
    """The middle `level` of a bootstrap distribution."""
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled_clusters(count: int, resamples: int, rng: np.random.Generator) -> Ints:
    """How often each of `count` clusters is drawn in each resample: resamples x count."""
    return rng.multinomial(count, np.full(count, 1 / count), size=resamples)


def resampled_strata(strata: Sequence[object], resamples: int, rng: np.random.Generator) -> Ints:
    """How often each is drawn where its stratum is resampled by itself: its size is by design."""
    weights = np.zeros((resamples, len(strata)), dtype=np.int64)
    for stratum in dict.fromkeys(strata):
        at = [place for place, each in enumerate(strata) if each == stratum]
        weights[:, at] = resampled_clusters(len(at), resamples, rng)
    return weights


MANY = 2000
"""Clusters up to which each is drawn by itself; of more, those that count alike are drawn as one
number."""
HELD = 4_000_000
"""Weights of clusters held at once."""


def resampled_sums(
    rows: Floats, strata: Sequence[object], resamples: int, rng: np.random.Generator
) -> Floats:
    """Sums over clusters drawn within their strata: resamples x columns.

    Memory does not grow with resamples x clusters: a million clusters are no exception.
    """
    if len(rows) <= MANY:
        sums: Floats = resampled_strata(strata, resamples, rng) @ rows
        return sums
    sums, codes = np.zeros((resamples, rows.shape[1])), {each: at for at, each in enumerate(strata)}
    of = np.array([codes[each] for each in strata])
    for code in codes.values():
        kinds, tally = np.unique(rows[of == code], axis=0, return_counts=True)
        step = max(1, HELD // len(kinds))
        for start in range(0, resamples, step):
            part = sums[start : start + step]
            part += resampled_tallies(tally, len(part), rng)[1] @ kinds
    return sums


def resampled_tallies(
    tally: Ints, resamples: int, rng: np.random.Generator, total: int | None = None
) -> tuple[Ints, Ints]:
    """Tallies of items drawn again: the categories that occur, and resamples x those categories.

    Items that fall in the same category are the same to every statistic of the tally, so drawing
    category counts is drawing items, at a cost that does not grow with their number.
    """
    present = np.flatnonzero(tally)
    count = int(tally.sum())
    share = tally[present] / count
    return present, rng.multinomial(count if total is None else total, share, size=resamples)


def student(counts: Ints, level: float) -> float:
    """How much wider an interval from few items is than a normal one: Student's quantile over it.

    Items are counted within their row.
    """
    free = int((counts - 1).clip(min=0).sum()) or int(counts.sum()) - 1
    return float(stdtrit(max(1, free), (1 + level) / 2)) / NormalDist().inv_cdf((1 + level) / 2)


def resampled_means(
    tallies: Ints, values: Sequence[Floats], resamples: int, rng: np.random.Generator, level: float
) -> list[Floats]:
    """Means of values of items (each at most 1), drawn within rows: for each, resamples x rows.

    Drawing n items from n shows (n - 1) / n of their variance, so deviations are widened by the
    square root of its inverse. A single item shows none: there the spread of all rows together
    stands in. How far a variance known from few items can be off is Student's widening.
    """
    columns: list[list[Floats]] = [[] for _ in values]
    wider = student(tallies.sum(axis=1), level)
    for row in tallies:
        n = int(row.sum())
        source = row if n > 1 else tallies.sum(axis=0)
        kinds, drawn = resampled_tallies(source, resamples, rng, n)
        for means, of in zip(columns, values, strict=True):
            deviation = drawn @ of[kinds] / n - (source @ of) / source.sum()
            means.append((row @ of) / n + deviation * wider * sqrt(n / max(1, n - 1)))
    return [np.stack(means, axis=-1) for means in columns]


def resampled_medians(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Medians of resamples of `values`, drawn through the order statistics of uniform variables.

    The k-th smallest of n uniform draws is Beta(k, n - k + 1), and the next, given it, is the
    smallest of n - k draws above it: exact, and free of the resamples x n table.
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
