"""Competitors timed in turn, several rounds, the least of each; and what the machine can do at
best, measured in between."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

SIDE = 2048
"""Of the square matrices whose product is the machine's sgemm peak."""
IN_A_ROW = 16
"""Products that take about as long as a block of items: a shared machine is at its best for a
moment, but not for seconds."""
ROW_FLOPS = IN_A_ROW * 2 * SIDE**3
BUSY = bool(os.environ.get("STEREOMETER_BENCH_BUSY"))
"""On a machine that others use: one thread and its CPU seconds, which waiting does not count in."""
THREADS = 1 if BUSY else 2
clock = time.process_time if BUSY else time.perf_counter


class Peak:
    """The best rates of a large float32 matrix product so far, in FLOP a second: of a single one,
    and of many in a row."""

    def __init__(self) -> None:
        self.left, self.right, self.out = (
            torch.randn(SIDE, SIDE),
            torch.randn(SIDE, SIDE),
            torch.empty(SIDE, SIDE),
        )
        self.rate = self.sustained = 0.0

    def probe(self) -> float:
        """Seconds of the products in a row."""
        taken = [self._seconds() for _ in range(IN_A_ROW)]
        self.rate = max(self.rate, 2 * SIDE**3 / min(taken))
        self.sustained = max(self.sustained, ROW_FLOPS / sum(taken))
        return sum(taken)

    def _seconds(self) -> float:
        start = clock()
        torch.mm(self.left, self.right, out=self.out)
        return clock() - start


@dataclass(frozen=True)
class Timed:
    """The least seconds of a competitor over all items, and what it answered."""

    seconds: float
    answers: Any
    peak: float
    """FLOP a second of products in a row that took their turn among the competitors and were timed
    by the same rule."""


SGEMM = "sgemm"
Competitor = Callable[[Sequence[Any]], Mapping[Any, Any]]
"""From items to their scores."""


def contest(
    competitors: Mapping[str, Competitor], items: Sequence[Any], peak: Peak, rounds: int, block: int
) -> dict[str, Timed]:
    """Every competitor on every block of items in turn; the least of its rounds on each block,
    summed."""
    answers: dict[str, dict[Any, Any]] = {name: {} for name in competitors}
    seconds, starts = dict.fromkeys([SGEMM, *competitors], 0.0), range(0, len(items), block)
    for start in starts:
        some = items[start : start + block]
        least = dict.fromkeys(seconds, float("inf"))
        for _ in range(rounds):
            least[SGEMM] = min(least[SGEMM], peak.probe())
            for name, competitor in competitors.items():
                began = clock()
                found = competitor(some)
                least[name] = min(least[name], clock() - began)
                answers[name] |= found
        seconds = {name: seconds[name] + least[name] for name in seconds}
    rate = len(starts) * ROW_FLOPS / seconds[SGEMM]
    return {name: Timed(seconds[name], answers[name], rate) for name in competitors}


def best_size(
    competitor: Callable[[Sequence[Any], int], Any], items: Sequence[Any], sizes: Sequence[int]
) -> int:
    """The batch size at which a competitor is fastest, the least of two tries each."""
    taken: dict[int, float] = {}
    for size in sizes:
        for _ in range(2):
            start = clock()
            competitor(items, size)
            taken[size] = min(taken.get(size, float("inf")), clock() - start)
    return min(taken, key=taken.__getitem__)
