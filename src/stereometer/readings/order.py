"""Two models under every reading that both have: which is nearer to 50, and how often that
changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from stereometer import catalog
from stereometer.readings.sides import Part, parts_of
from stereometer.runs.stored import Run
from stereometer.shapes.contrast import Contrast
from stereometer.shapes.sweep import JOINT, READING, named
from stereometer.shapes.verdicts import NULL_VALUE, SAME
from stereometer.stats.means import PerUnit, StudentMean, together
from stereometer.stats.tests import holm
from stereometer.types import Estimate, Settings


@dataclass(frozen=True)
class Order:
    """Two models under the readings of one question."""

    first: str
    second: str
    task: str
    question: str
    readings: int
    """That both have."""
    first_nearer: int
    """Readings in which the first is nearer to 50."""
    second_nearer: int
    first_surely: int
    """Those beyond noise, after Holm over the readings."""
    second_surely: int
    first_higher: int
    """Readings in which the first prefers stereotypes more."""
    second_higher: int

    @property
    def changes(self) -> int:
        """Readings that contradict the more frequent order."""
        return min(self.first_nearer, self.second_nearer)

    @property
    def where(self) -> str:
        return self.question if self.task == "pair" else f"{self.task}, {self.question}"


def orders(sweeps: Sequence[Run], settings: Settings) -> Iterator[Order]:
    """Every two models that were swept on the same items."""
    for one, other in combinations(sweeps, 2):
        first, second = one.result, other.result
        if first.settings["shape"] == second.settings["shape"]:
            shape = catalog.shape(str(first.settings["shape"]))
            if isinstance(shape, Contrast):
                yield from _ordered(shape, one, other, settings.level)


def _ordered(shape: Contrast, one: Run, other: Run, level: float) -> Iterator[Order]:
    parts = [{part.name: part for part in parts_of(shape, run.scores)} for run in (one, other)]
    theirs = {_key(row): row for row in named(other.result, READING) if row.value is not None}
    for joint in named(one.result, JOINT):
        both = [
            (row, theirs[_key(row)])
            for row in named(one.result, READING)
            if row.value is not None
            and _key(row) in theirs
            and joint.slice.items() <= row.slice.items()
        ]
        if both:
            names = one.result.model, other.result.model
            task, question = joint.slice["task"], joint.slice["question"]
            ps = holm([_p(parts[0][task], parts[1][task], row) for row, _ in both])
            yield Order(*names, task, question, len(both), *_counts(both, ps, level))


def _key(row: Estimate) -> frozenset[tuple[str, str]]:
    return frozenset(row.slice.items())


def _p(first: Part, second: Part, row: Estimate) -> float:
    """That one is nearer to 50: the larger p of the difference and of the sum, unit by unit."""
    way = f"{row.slice['measure']} {row.slice['variant']}"
    how = row.slice["averaging"], row.slice["items"]
    columns = [part.clusters(way, *how) for part in (first, second)]
    both = (columns[0].sizes > 0) & (columns[1].sizes > 0)
    values, weights = together([PerUnit(sums[both], sizes[both]) for sums, sizes in columns])
    means = [StudentMean.of(combine(*values), weights) for combine in (np.subtract, np.add)]
    return max(mean.p() if mean.error > SAME else 1.0 for mean in means)


def _counts(
    both: Sequence[tuple[Estimate, Estimate]], ps: Sequence[float], level: float
) -> tuple[int, ...]:
    """Nearer, surely nearer and higher, of the first and of the second."""
    counts = [0] * 6
    for (first, second), p in zip(both, ps, strict=True):
        values = first.value or 0.0, second.value or 0.0
        away = [abs(value - NULL_VALUE) for value in values]
        if away[0] != away[1]:
            nearer = int(away[1] < away[0])
            counts[nearer] += 1
            counts[2 + nearer] += p < 1 - level
        if values[0] != values[1]:
            counts[4 + int(values[1] > values[0])] += 1
    return tuple(counts)
