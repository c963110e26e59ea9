"""Things that belong together: shares of clusters that are resampled, and what is connected."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from stereometer.core.stats.intervals import Floats, percentile, resampled_sums, wilson_percent


def clustered_percent(
    parts: Sequence[Sequence[float]],
    resamples: int,
    level: float,
    rng: np.random.Generator,
    noun: str,
) -> dict[str, Any]:
    """A share in percent with its interval, clusters resampled, as the fields of an estimate.

    `noun` is what the clusters are called.
    """
    counts = np.array([(sum(part), len(part)) for part in parts], dtype=float)
    value = 100 * float(counts[:, 0].sum() / counts[:, 1].sum())
    sums = resampled_sums(counts, [()] * len(parts), resamples, rng)
    draws = 100 * sums[:, 0] / sums[:, 1]
    return percent_fields(value, draws, len(parts), level, noun)


def percent_fields(
    value: float, draws: Floats, count: int, level: float, noun: str
) -> dict[str, Any]:
    """A share in percent with the interval of its draws, or Wilson's where all of them agree: that
    leaves a bootstrap no spread, which is not certainty."""
    low, high = percentile(draws, level) if draws.size else (0.0, 0.0)
    how = f"percentile bootstrap over {noun}"
    if low == high:
        (low, high), how = wilson_percent(value, count, level), f"Wilson: all {noun} agree"
    return {"value": value, "low": low, "high": high, "interval": how}


def connected(marks: Sequence[Iterable[Hashable]]) -> list[list[int]]:
    """Places that share a mark, directly or through others, together.

    They are in order of first appearance. A place without marks stands alone.
    """
    parent = list(range(len(marks)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first: dict[Hashable, int] = {}
    for index, own in enumerate(marks):
        for mark in own:
            parent[root(index)] = root(first.setdefault(mark, index))
    groups: dict[int, list[int]] = {}
    for index in range(len(marks)):
        groups.setdefault(root(index), []).append(index)
    return list(groups.values())
