"""What runs say of the same items, side by side: the one table that all readings are counted from.

A side is 1 where the stereotype is preferred, -1 where its opposite is, 0 for a tie. Items that
vary together (those of a target term, or of the same texts where there is none) are one unit.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stereometer.core.shapes.points import Coverage, term
from stereometer.core.shapes.shape import Contrast
from stereometer.core.shapes.spread import Spread, over_units
from stereometer.core.shapes.verdicts import LIKE_THESE, NULL_VALUE, SAME, undetermined
from stereometer.core.stats.intervals import Floats, Ints, wilson_percent
from stereometer.core.stats.means import PerUnit, StudentMean
from stereometer.core.types import Estimate, Score, Settings, Slice
from stereometer.wings.sweep.shape import READING, WORDED
from stereometer.wings.sweep.table import ReadingQuestion
from stereometer.wings.sweep.way import Way

CLEAN = "clean"
"""What a stored item of a sweep says besides its sides."""
BY_TERM, BY_ITEM = "term", "item"
ALL_ITEMS, CLEAN_ITEMS = "all", "clean"
SIGNED = (-1.0, 0.0, 1.0)
"""Points of an item lost, tied and won, so that swapped labels change the sign."""
PERCENT, LEAST, MOST = (0.0, 50.0, 100.0), (0.0, 0.0, 100.0), (0.0, 100.0, 100.0)
"""These points in percent; and if every tie were lost, or won. The authors' code loses them: what
it prints for `paper` is the least."""


@dataclass(frozen=True)
class SweptPart:
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

    def of_way(self, way: str) -> Floats:
        """One side per item, also of a way in which none was answered."""
        return self.sides.get(way, np.full(self.clean.size, np.nan))

    def clusters(
        self, way: str, averaging: str, items: str, points: Sequence[float] = SIGNED
    ) -> PerUnit:
        """By unit, an item lost, tied or won counting its points; averaged by term a unit's mean
        weighs 1."""
        sides = np.where(self.kept(items), self.of_way(way), np.nan)
        per_unit = PerUnit.of(self.units, np.interp(sides, (-1.0, 0.0, 1.0), points))
        return per_unit if averaging == BY_ITEM else per_unit.alike

    def averaged(self, values: Floats) -> StudentMean:
        """The mean of what items have, over terms where there are any; NaN where they have none."""
        per_unit = PerUnit.of(self.units, values)
        return (per_unit if self.copied else per_unit.alike).mean


def parts_of(shape: Contrast, scores: Iterable[Score]) -> list[SweptPart]:
    """From the stored items of a sweep."""
    by_task: dict[str, list[Score]] = {}
    for score in scores:
        by_task.setdefault(shape.task(score), []).append(score)
    return [_part(shape, task, members) for task, members in by_task.items()]


def _part(shape: Contrast, task: str, scores: Sequence[Score]) -> SweptPart:
    ways = dict.fromkeys(way for score in scores for way in score.values)
    sides = {way: np.array([score.values.get(way, np.nan) for score in scores]) for way in ways}
    clean = np.array([bool(score.derived.get(CLEAN)) for score in scores])
    copied = not any(term(score.slices, shape.unit_by) for score in scores)
    return SweptPart(task, [shape.term(score) for score in scores], clean, sides, copied)


FEWEST_UNITS = 6
"""Units below which no p of flips can fall under 0.05."""


@dataclass(frozen=True)
class WayReading:
    """A way of asking, of averaging, and a set of items."""

    way: Way
    averaging: str
    items: str


@dataclass(frozen=True)
class PartQuestion:
    """A question of a part, and the runs that ask it."""

    question: ReadingQuestion
    part: SweptPart
    ways: Sequence[Way]
    settings: Settings
    withheld: Mapping[str, str]
    """By way, why its run has no score of this part."""
    ties: Mapping[str, float]
    """By way, the share of ties above which it has none."""

    @property
    def slice(self) -> Slice:
        return {"task": self.part.name, "question": self.question.id}

    @property
    def is_worded(self) -> bool:
        """Whether it was asked in several wordings: then the asking is varied and nothing else."""
        return len({way.wording for way in self.ways}) > 1

    @property
    def readings(self) -> list[WayReading]:
        """Where every term has as many items, averaging by term and by item is one reading."""
        if self.is_worded:
            return [WayReading(way, self.part.averagings[0], ALL_ITEMS) for way in self.ways]
        return [
            WayReading(way, averaging, items)
            for way in self.ways
            for items in self.part.item_sets
            for averaging in self.part.averagings[: 1 if self._is_even(way, items) else None]
        ]

    def _is_even(self, way: Way, items: str) -> bool:
        """Whether every term has as many items."""
        sizes = self.part.clusters(way.id, BY_ITEM, items).sizes
        return len(set(sizes[sizes > 0])) < 2

    def clusters(self, of: WayReading, points: Sequence[float] = SIGNED) -> PerUnit:
        return self.part.clusters(of.way.id, of.averaging, of.items, points)

    def place(self, reading: WayReading) -> Slice:
        told = {name: of for name, of in reading.way.choices.items() if name not in self.untold}
        how = {"averaging": reading.averaging, "items": reading.items}
        return {**self.slice, "measure": reading.way.measure, **told, **how}

    @cached_property
    def untold(self) -> frozenset[str]:
        """What only tells one way of asking in words from another, where there is one."""
        if self.is_worded:
            return frozenset()
        chosen = [way.choices for way in self.ways]
        return frozenset(name for name in WORDED if len({of.get(name) for of in chosen}) < 2)


def counted(asked: PartQuestion, reading: WayReading) -> Estimate:
    """A reading's value and interval, or why it has none; not judged yet."""
    part = asked.part
    asked_items = int(part.kept(reading.items).sum())
    sides = part.of_way(reading.way.id)[part.kept(reading.items)]
    sides = sides[~np.isnan(sides)]
    missing = Counter({"not answered": asked_items - sides.size})
    coverage, tied = Coverage(asked_items, +missing), int((sides == 0).sum())
    per_unit = asked.clusters(reading, PERCENT)
    units = int((per_unit.sizes > 0).sum())
    terms = units if part.has_terms else None
    empty = coverage.estimate(READING, asked.place(reading), NULL_VALUE, ties=tied, terms=terms)
    why = _shortfall(asked, reading, coverage, tied, units)
    if why is not None:
        return replace(empty, why=why)
    known = _spread(part, empty.n, per_unit.mean)
    least, most = (asked.clusters(reading, points).value for points in (LEAST, MOST))
    bounded = replace(empty, value=known.value, least=least, most=most, scope=known.scope)
    return known.measured(bounded, asked.settings)


def _shortfall(
    asked: PartQuestion, reading: WayReading, coverage: Coverage, tied: int, units: int
) -> str | None:
    way, settings = reading.way.id, asked.settings
    if why := asked.withheld.get(way) or coverage.shortfall(settings):
        return why
    allowed = replace(settings, ties=asked.ties[way])
    if why := undetermined(tied / coverage.answered, allowed):
        return why
    if units < FEWEST_UNITS:
        noun = "target terms" if asked.part.has_terms else "items"
        return f"only {units} {noun}, and swapping labels needs {FEWEST_UNITS}"
    return None


def _spread(part: SweptPart, n: int, mean: StudentMean) -> Spread:
    over = "target terms" if part.has_terms else "items"
    scope = LIKE_THESE if part.has_terms else "items like these"
    if mean.error > SAME:
        return over_units(mean, over, scope)
    alone = mean.free + 1 if part.copied else n
    return Spread(
        mean.value,
        lambda level: (*wilson_percent(mean.value, alone, level), f"Wilson: all {over} agree"),
        # Units that all agree are not certain.
        lambda: 1.0 if mean.value == NULL_VALUE else 2.0**-mean.free,
        f"sign flips: all {over} agree",
        lambda level: None,
        scope=scope,
    )
