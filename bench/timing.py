"""Competitors timed in turn, several rounds, the least of each; and what the machine can do at best, measured in between."""

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
"""Products that take about as long as a block of items: a shared machine is at its best for a moment, but not for seconds."""
BUSY = bool(os.environ.get("STEREOMETER_BENCH_BUSY"))
"""On a machine that others use: one thread and its CPU seconds, which waiting does not count in."""
THREADS = 1 if BUSY else 2
clock = time.process_time if BUSY else time.perf_counter


class Peak:
    """The best rates of a large float32 matrix product so far, in FLOP a second: of a single one, and of many in a row."""

    def __init__(self) -> None:
        self.left, self.right, self.out = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE), torch.empty(SIDE, SIDE)
        self.rate = self.sustained = 0.0

    def probe(self, times: int = IN_A_ROW) -> None:
        taken = [self._seconds() for _ in range(times)]
        self.rate = max(self.rate, 2 * SIDE**3 / min(taken))
        self.sustained = max(self.sustained, times * 2 * SIDE**3 / sum(taken))

    def _seconds(self) -> float:
        start = clock()
        torch.mm(self.left, self.right, out=self.out)
        return clock() - start


@dataclass(frozen=True)
class Timed:
    """The least seconds of a competitor over all items, and what it answered."""

    seconds: float
    answers: Any


Competitor = Callable[[Sequence[Any]], Mapping[Any, Any]]
"""From items to their scores."""


def contest(competitors: Mapping[str, Competitor], items: Sequence[Any], peak: Peak, rounds: int, block: int) -> dict[str, Timed]:
    """Every competitor on every block of items in turn; the least of its rounds on each block, summed."""
    seconds, answers = dict.fromkeys(competitors, 0.0), {name: {} for name in competitors}
    for start in range(0, len(items), block):
        some = items[start : start + block]
        least = dict.fromkeys(competitors, float("inf"))
        for _ in range(rounds):
            peak.probe()
            for name, competitor in competitors.items():
                began = clock()
                found = competitor(some)
                least[name] = min(least[name], clock() - began)
                answers[name] |= found
        seconds = {name: seconds[name] + least[name] for name in competitors}
    return {name: Timed(seconds[name], answers[name]) for name in competitors}


def best_size(competitor: Callable[[Sequence[Any], int], Any], items: Sequence[Any], sizes: Sequence[int]) -> int:
    """The batch size at which a competitor is fastest, the least of two tries each."""
    taken = {}
    for size in sizes:
        for _ in range(2):
            start = clock()
            competitor(items, size)
            taken[size] = min(taken.get(size, float("inf")), clock() - start)
    return min(taken, key=taken.__getitem__)
