"""A reading, and what it says on its own: value, interval, or why it has neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stereometer.readings.sides import BY_ITEM, LEAST, MOST, PERCENT, SIGNED, Part
from stereometer.readings.table import Question, Way
from stereometer.shapes.coverage import Coverage
from stereometer.shapes.spread import Spread, over_units
from stereometer.shapes.sweep import READING
from stereometer.shapes.verdicts import LIKE_THESE, NULL_VALUE, SAME, undetermined
from stereometer.stats.intervals import wilson_percent
from stereometer.stats.means import PerUnit, StudentMean
from stereometer.types import Estimate, Settings, Slice

FEWEST_UNITS = 6
"""Units below which no p of flips can fall under 0.05."""


@dataclass(frozen=True)
class Reading:
    """A way of asking, of averaging, and a set of items."""

    way: Way
    averaging: str
    items: str

    @property
    def choices(self) -> dict[str, str]:
        return {**self.way.choices, "averaging": self.averaging, "items": self.items}


@dataclass(frozen=True)
class Asked:
    """A question of a part, and the runs that ask it."""

    question: Question
    part: Part
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
    def readings(self) -> list[Reading]:
        """Where every term has as many items, averaging by term and by item is one reading."""
        return [
            Reading(way, averaging, items)
            for way in self.ways
            for items in self.part.item_sets
            for averaging in self.part.averagings[: 1 if self.is_even(way, items) else None]
        ]

    def clusters(self, of: Reading, points: Sequence[float] = SIGNED) -> PerUnit:
        return self.part.clusters(of.way.id, of.averaging, of.items, points)

    def is_even(self, way: Way, items: str) -> bool:
        sizes = self.part.clusters(way.id, BY_ITEM, items).sizes
        return len(set(sizes[sizes > 0])) < 2

    def place(self, reading: Reading) -> Slice:
        return {**self.slice, "measure": reading.way.measure, **reading.choices}


def counted(asked: Asked, reading: Reading) -> Estimate:
    """A reading's value and interval, or why it has none; not judged yet."""
    part = asked.part
    coverage, tied = _coverage(part, reading)
    per_unit = asked.clusters(reading, PERCENT)
    units = int((per_unit.sizes > 0).sum())
    empty = coverage.estimate(
        READING,
        asked.place(reading),
        NULL_VALUE,
        ties=tied,
        terms=units if part.has_terms else None,
    )
    why = _shortfall(asked, reading, coverage, tied, units)
    if why is not None:
        return replace(empty, why=why)
    known = _spread(part, empty.n, per_unit.mean)
    least, most = (asked.clusters(reading, points).value for points in (LEAST, MOST))
    bounded = replace(empty, value=known.value, least=least, most=most, scope=known.scope)
    return known.measured(bounded, asked.settings)


def _coverage(part: Part, reading: Reading) -> tuple[Coverage, int]:
    asked = int(part.kept(reading.items).sum())
    sides = part.answered(reading.way.id, reading.items)
    missing = Counter({"not answered": asked - sides.size})
    return Coverage(asked, +missing), int((sides == 0).sum())


def _shortfall(
    asked: Asked, reading: Reading, coverage: Coverage, tied: int, units: int
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


def _spread(part: Part, n: int, mean: StudentMean) -> Spread:
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
