"""What runs say of the same items, side by side: the one table that all readings are counted from.

A side is 1 where the stereotype is preferred, -1 where its opposite is, 0 for a tie. Items that
vary together (those of a target term, or of the same texts where there is none) are one unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stereometer.shapes.contrast import Contrast
from stereometer.shapes.copies import term
from stereometer.stats.intervals import Floats, Ints
from stereometer.stats.means import PerUnit, StudentMean
from stereometer.types import Score

CLEAN = "clean"
"""What a stored item of a sweep says besides its sides."""
BY_TERM, BY_ITEM = "term", "item"
ALL_ITEMS, CLEAN_ITEMS = "all", "clean"
SIGNED = (-1.0, 0.0, 1.0)
"""Points of an item lost, tied and won, so that swapped labels change the sign."""
PERCENT, LEAST, MOST = (0.0, 50.0, 100.0), (0.0, 0.0, 100.0), (0.0, 100.0, 100.0)
"""The same in percent; and if every tie were lost, or won. The authors' code loses them: what it
prints for `paper` is the least."""


@dataclass(frozen=True)
class Part:
    """Items whose scores are on one scale: a task of CATs, or pairs."""

    name: str
    terms: Sequence[str]
    """The unit of each item."""
    clean: NDArray[np.bool_]
    sides: Mapping[str, Floats]
    """By way of asking; NaN where an item was not answered."""
    copied: bool = False
    """Whether units are items of the same texts, not terms."""

    @cached_property
    def units(self) -> Ints:
        """The number of each item's."""
        return np.unique(np.array(self.terms), return_inverse=True)[1]

    @property
    def has_terms(self) -> bool:
        """Whether items share units that are averaged over."""
        return not self.copied and len(set(self.terms)) < len(self.terms)

    @property
    def averagings(self) -> list[str]:
        return [BY_TERM, BY_ITEM] if self.has_terms else [BY_ITEM]

    @property
    def item_sets(self) -> list[str]:
        """All alone where every item is clean, or none is."""
        return [ALL_ITEMS, CLEAN_ITEMS] if 0 < self.clean.sum() < self.clean.size else [ALL_ITEMS]

    def kept(self, items: str) -> NDArray[np.bool_]:
        return self.clean if items == CLEAN_ITEMS else np.ones_like(self.clean)

    def answered(self, way: str, items: str) -> Floats:
        """The sides of the items that were asked and answered."""
        sides = self.sides[way][self.kept(items)]
        return sides[~np.isnan(sides)]

    def clusters(
        self, way: str, averaging: str, items: str, points: Sequence[float] = SIGNED
    ) -> PerUnit:
        """By unit, an item lost, tied or won counting its points; averaged by term a unit's mean
        weighs 1."""
        sides = np.where(self.kept(items), self.sides[way], np.nan)
        per_unit = PerUnit.of(self.units, np.interp(sides, (-1.0, 0.0, 1.0), points))
        return per_unit if averaging == BY_ITEM else per_unit.alike

    def averaged(self, values: Floats) -> StudentMean:
        """The mean of what items have, over terms where there are any; NaN where they have none."""
        per_unit = PerUnit.of(self.units, values)
        return (per_unit if self.copied else per_unit.alike).mean


def parts_of(shape: Contrast, scores: Iterable[Score]) -> list[Part]:
    """From the stored items of a sweep."""
    by_task: dict[str, list[Score]] = {}
    for score in scores:
        by_task.setdefault(shape.task(score), []).append(score)
    return [_part(shape, task, members) for task, members in by_task.items()]


def _part(shape: Contrast, task: str, scores: Sequence[Score]) -> Part:
    ways = dict.fromkeys(way for score in scores for way in score.values)
    sides = {
        way: np.array([score.values.get(way, np.nan) for score in scores], dtype=np.float64)
        for way in ways
    }
    clean = np.array([bool(score.derived.get(CLEAN)) for score in scores])
    copied = not any(term(score.slices, shape.unit_by) for score in scores)
    return Part(task, [shape.term(score) for score in scores], clean, sides, copied)
