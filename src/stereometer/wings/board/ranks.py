"""Between which places a system stands, by whom it is nearer to the ideal than, beyond noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from stereometer.core.compare import Compared


@dataclass(frozen=True)
class RankRange:
    best: int
    worst: int
    systems: int
    """How many were tested with each other."""


def rank_ranges(pairs: Iterable[Compared], metric: str) -> dict[str, RankRange]:
    """By system; one that was not compared in this metric has no range."""
    nearer: Counter[str] = Counter()
    farther: Counter[str] = Counter()
    systems: dict[str, None] = {}
    for pair in pairs:
        for row in pair.differences:
            if row.slice or row.name != metric or row.ideal is None:
                continue
            systems |= dict.fromkeys((pair.first, pair.second))
            if row.closer != "neither":
                first = row.closer == "first"
                farther[pair.first if first else pair.second] += 1
                nearer[pair.second if first else pair.first] += 1
    count = len(systems)
    return {label: RankRange(1 + nearer[label], count - farther[label], count) for label in systems}
