"""Runs as the page shows them: systems, in groups whose numbers may stand in one column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from stereometer.core import catalog
from stereometer.core.addendum import Finding, addenda
from stereometer.core.runs.stored import Run, Side, settings_of
from stereometer.core.shapes.shape import Shape
from stereometer.core.show.figure import FILLS, Key
from stereometer.core.show.table import Cell
from stereometer.core.types import Estimate, Result, Score, Settings, Slice
from stereometer.report.system_facts import Facts

MOST_SYSTEMS = 40
"""Of a group, in words, pictures and items: nobody could tell the marks of more apart."""


@dataclass(frozen=True)
class System:
    """One run under the name and the mark it has all over the page."""

    label: str
    number: int
    """Decides its mark."""
    run: Run
    name: str = ""
    """The label without what a section adds to it."""

    @property
    def look(self) -> Look:
        return look(self.number)

    @property
    def result(self) -> Result:
        return self.run.result

    @property
    def scores(self) -> tuple[Score, ...]:
        """Empty where only the result.json is there."""
        return self.run.scores if self.run.has_scores else ()

    @property
    def cell(self) -> Cell:
        return Cell(self.label, system=self.number)

    @property
    def key(self) -> Key:
        return Key(self.label, self.look.colour, self.look.shape)

    @cached_property
    def _placed(self) -> dict[tuple[str, frozenset[tuple[str, str]]], Estimate]:
        return {(row.name, frozenset(row.slice.items())): row for row in self.result.estimates}

    def find(self, name: str, slice_: Slice) -> Estimate | None:
        return self._placed.get((name, frozenset(slice_.items())))

    def named(self, name: str) -> list[Estimate]:
        return [estimate for estimate in self.result.estimates if estimate.name == name]


@dataclass(frozen=True)
class Group:
    """Systems measured in the same way on the same items."""

    id: str
    systems: tuple[System, ...]
    facts: Mapping[str, Facts] = field(default_factory=dict)
    """Sizes of systems whose cards do not say."""

    @property
    def first(self) -> Result:
        return self.systems[0].result

    @cached_property
    def shown(self) -> Group:
        """Without the systems that are only in the table."""
        return replace(self, systems=self.systems[:MOST_SYSTEMS])

    @cached_property
    def shape(self) -> Shape:
        return catalog.shape(self.first.kind)

    @property
    def main(self) -> str:
        """The name of the metric whose verdict leads."""
        return self.shape.leading(self.first).name

    @cached_property
    def headline(self) -> list[str]:
        """The metrics of the first table, the leading one first."""
        metrics = {
            metric.name: metric
            for system in self.systems
            for metric in self.shape.metrics_of(system.result)
        }
        first = [self.main, *self.undeclared]
        names = [name for name, metric in metrics.items() if metric.headline or name in first]
        return sorted(names, key=lambda name: name != self.main)

    @cached_property
    def undeclared(self) -> list[str]:
        """The metrics that the shape does not know."""
        known = {metric.name for metric in self.shape.metrics}
        names = dict.fromkeys(
            row.name for system in self.systems for row in system.result.estimates
        )
        return [name for name in names if name not in known]

    @property
    def legend(self) -> tuple[Key, ...]:
        return (*(system.key for system in self.systems), *FILLS)

    @property
    def title(self) -> str:
        return str(self.first.data.get("title") or self.first.benchmark)

    @property
    def how(self) -> list[str]:
        """The measure, and the variant where it is not the usual one."""
        variant = self.first.variant
        named = [] if variant == "sound" else [f"variant {variant}"]
        return [self.first.measured_by.unversioned, *named]

    def digits(self, name: str) -> int:
        """Decimals of a metric; by the size of its values where nobody declared it."""
        if name not in self.undeclared:
            return self.shape.metric(name).digits
        values = [abs(row.value or 0.0) for system in self.systems for row in system.named(name)]
        return 3 if max(values, default=0.0) <= 1 else 1

    def slices(self, name: str, fine: bool = False) -> list[Slice]:
        """The coarse (or the fine) slices that any system has an estimate of this name for."""
        slices = {
            tuple(estimate.slice.items()): estimate.slice
            for system in self.systems
            for estimate in system.named(name)
        }
        return [row for row in slices.values() if self.shape.headline_slice(row) != fine]

    def placed(self, name: str, slices: Iterable[Slice]) -> list[tuple[System, Estimate]]:
        """Every estimate of one metric in these slices."""
        return [
            (system, estimate)
            for slice_ in slices
            for system in self.systems
            if (estimate := system.find(name, slice_))
        ]

    @cached_property
    def findings(self) -> Mapping[str, tuple[Finding, ...]]:
        """What addenda of the catalog say of the systems, by the name of their field."""
        known = (each for each in addenda() if each.field)
        return {each.field: tuple(each.findings(self.sides, self.settings)) for each in known}

    @cached_property
    def sides(self) -> list[Side]:
        """Systems whose scores are there, as findings take them."""
        return [Side(each.label, each.run) for each in self.systems if each.run.has_scores]

    @property
    def settings(self) -> Settings:
        """With which differences and correlations of the group are computed."""
        floors = (float(system.result.settings["coverage"]) for system in self.systems)
        first = settings_of(self.first)
        return Settings(self.first.variant, first.seed, first.resamples, first.level, min(floors))


# ------------------------------------------------------------------------------------------- marks

COLOURS = 7
"""The custom properties --system-0 ... of report.css, light and dark."""
SHAPES = (
    "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
    "M-.9,-.9H.9V.9H-.9Z",
    "M0,-1.15L1.1,.85H-1.1Z",
    "M0,-1.3L1.05,0L0,1.3L-1.05,0Z",
    "M0,1.15L1.1,-.85H-1.1Z",
    "M-.4,-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
)
"""SVG paths about the origin, the form in which both Vega and the legend take them."""


@dataclass(frozen=True)
class Look:
    colour: str
    shape: str


def look(number: int) -> Look:
    """Seven colours and six shapes share no factor: the first 42 systems all differ."""
    return Look(f"var(--system-{number % COLOURS})", SHAPES[number % len(SHAPES)])
