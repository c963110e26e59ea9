"""The first screen: systems by what was measured, each cell with value, interval and verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stereometer.core.show import numbers
from stereometer.core.show.figure import Fill, fill_of
from stereometer.core.types import Estimate
from stereometer.report.systems import Group, System


@dataclass(frozen=True)
class Entry:
    """What one column says of one system."""

    system: System
    value: str
    interval: str
    says: str
    fill: Fill = "pale"
    order: float | None = None
    """By which a column is sorted; one without comes last."""


def entry(system: System, estimate: Estimate, digits: int) -> Entry:
    value, interval = numbers.value(estimate, digits), numbers.interval(estimate, digits)
    says = numbers.short(estimate) or estimate.why or "not tested"
    return Entry(system, value, interval, says, fill_of(estimate), estimate.value)


def tally(system: System) -> Entry:
    """Of a system for which no single number speaks: how many of its tests found something."""
    tested = [row.beyond_noise for row in system.result.estimates if row.beyond_noise is not None]
    if not tested:
        return Entry(system, "not tested", "", "")
    return Entry(
        system, f"{sum(tested):,} of {len(tested):,}", "", "beyond noise", order=sum(tested)
    )


@dataclass(frozen=True)
class Column:
    """What may be compared: one metric of one group."""

    group: Group
    title: str
    metric: str
    how: Sequence[str]
    """The measure, and what else it is of."""
    entries: Mapping[str, Entry]
    """By the system's name."""


Place = tuple[str, int]
"""The name of a system and the number of a column; empty or -1 where it is of all of them."""


@dataclass(frozen=True)
class Matrix:
    columns: Sequence[Column]

    @cached_property
    def systems(self) -> dict[str, System]:
        """By name, in their order, each with the mark that it has in most of the page."""
        every = [row.system for column in self.columns for row in column.entries.values()]
        first = {system.name: system for system in reversed(every)}
        named = {system.label: system for system in every}
        return {name: named.get(name, first[name]) for name in dict.fromkeys(s.name for s in every)}

    def scoring(self, name: str) -> str:
        """Where its scores do not come from a model's answers."""
        found = [column.entries[name] for column in self.columns if name in column.entries]
        kinds = dict.fromkeys(row.system.result.scoring for row in found)
        return ", ".join(kind for kind in kinds if kind != "computed")

    @cached_property
    def notes(self) -> dict[str, tuple[Place, ...]]:
        """Every note once, with the fewest places that say what it is of."""
        cells: dict[str, list[Place]] = {}
        for number, column in enumerate(self.columns):
            for name, row in column.entries.items():
                for note in dict.fromkeys(row.system.result.notes):
                    cells.setdefault(note, []).append((name, number))
        return {note: self._fewest(places) for note, places in cells.items()}

    def _fewest(self, places: Sequence[Place]) -> tuple[Place, ...]:
        every = [
            (name, number) for number, column in enumerate(self.columns) for name in column.entries
        ]
        left = set(every) - set(places)
        columns = {number for _, number in places}
        names = dict.fromkeys(name for name, _ in places)
        ways: list[tuple[Place, ...]] = [tuple(places)]
        if not any(number in columns for _, number in left):
            ways.append(tuple(("", number) for number in sorted(columns)))
        if not any(name in names for name, _ in left):
            ways.append(tuple((name, -1) for name in names))
        return min(reversed(ways), key=len)

    def refs(self, name: str = "", column: int = -1) -> str:
        """The numbers of the notes on a place."""
        found = [n for n, at in enumerate(self.notes.values(), 1) if (name, column) in at]
        return ", ".join(map(str, found))

    def of(self, group: Group, system: int) -> list[int]:
        """The numbers of all notes on a system of a group."""
        said = next(each.result.notes for each in group.systems if each.number == system)
        return [n for n, note in enumerate(self.notes, 1) if note in said]
