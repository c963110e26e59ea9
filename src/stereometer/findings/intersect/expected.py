"""Emergent traits beside those that somebody expects: precision, recall, and what chance gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from stereometer.benchmarks.abc.traits import POLES, Trait
from stereometer.errors import DataError, did_you_mean
from stereometer.findings.intersect.crossing import Crossing
from stereometer.findings.intersect.emergence import Emergent
from stereometer.shapes.coverage import Coverage
from stereometer.stats.intervals import wilson
from stereometer.tables import read_table
from stereometer.types import Estimate, Settings

ADJECTIVES, DIMENSIONS = ("group", "adjective"), ("group", "dimension", "side")
SIDES = {"left": 0, "low": 0, "right": 1, "high": 1}
SHOWN = 40
"""Names shown where none is near."""

Cell = tuple[str, str]
"""A pair of groups, and a head adjective or a side of a dimension."""


@dataclass(frozen=True)
class Expected:
    cells: frozenset[Cell]
    by_dimension: bool = False
    """Whether sides of dimensions are expected (Cao et al. 2022, 5.2), and not adjectives."""

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(group for group, _ in self.cells)

    def increases(self, listed: Sequence[Emergent], table: Crossing) -> dict[Cell, float]:
        """Of the pairs spoken of; those of the adjectives on a side of a dimension averaged."""
        values: dict[Cell, list[float]] = {}
        for cell in listed:
            pair = table.pairs[cell.pair].name
            if pair in self.groups:
                values.setdefault((pair, self._name(table, cell)), []).append(cell.increase)
        return {cell: fmean(known) for cell, known in values.items()}

    def _name(self, table: Crossing, cell: Emergent) -> str:
        trait = table.traits[cell.trait]
        if self.by_dimension:
            return side_of(trait.dimension, cell.pole)
        return trait.head(POLES[cell.pole])


def side_of(dimension: str, pole: int) -> str:
    return f"{dimension}, {POLES[pole]}"


def read_expected(path: Path, pairs: Sequence[str], traits: Sequence[Trait]) -> Expected:
    """A table of `group, adjective`, or of `group, dimension, side`: left (low) or right (high)."""
    first = next((row for _, row in read_table(path, ["group"])), {})
    by_dimension = "dimension" in first and "adjective" not in first
    cells = set()
    for line, row in read_table(path, DIMENSIONS if by_dimension else ADJECTIVES):
        where, group = f"{path}, line {line}", row["group"].strip()
        _check(where, "pair of groups", group, pairs)
        cells.add((group, (_side if by_dimension else _adjective)(where, row, traits)))
    if not cells:
        raise DataError(
            f"{path} has no rows. There is nothing to compare with. "
            "Check that it is the right file."
        )
    return Expected(frozenset(cells), by_dimension)


def _adjective(where: str, row: Mapping[str, str], traits: Sequence[Trait]) -> str:
    adjectives = [trait.head(pole) for trait in traits for pole in POLES]
    return _check(where, "adjective", row["adjective"].strip(), adjectives)


def _side(where: str, row: Mapping[str, str], traits: Sequence[Trait]) -> str:
    dimensions = list(dict.fromkeys(trait.dimension for trait in traits))
    dimension = _check(where, "dimension", row["dimension"].strip(), dimensions)
    side = _check(where, "side", row["side"].strip().lower(), list(SIDES))
    return side_of(dimension, SIDES[side])


def _check(where: str, kind: str, name: str, known: Sequence[str]) -> str:
    if name in known:
        return name
    shown = f"{', '.join(known[:SHOWN])}{' ...' if len(known) > SHOWN else ''}"
    near = did_you_mean(name, dict(zip(known, known, strict=True)))
    raise DataError(
        f"{where}: there is no {kind} called '{name}'. {near or f'Known: {shown}.'} Fix the row."
    )


def agreement(
    expected: Expected, listed: Sequence[Emergent], table: Crossing, settings: Settings
) -> Iterator[Estimate]:
    """Among the pairs that the table speaks of: emergent is what is above both parts.

    Chance is a list as long, drawn blindly.
    """
    cells, wanted = expected.increases(listed, table), expected.cells
    emerging = {cell for cell, increase in cells.items() if increase > 0}
    right = len(emerging & wanted)
    for name, out_of, chance in (
        ("expected_precision", len(emerging), len(wanted & cells.keys()) / max(1, len(cells))),
        ("expected_recall", len(wanted), len(emerging) / max(1, len(cells))),
    ):
        empty = Coverage(out_of).estimate(name, {}, 1.0)
        if not out_of:
            yield replace(empty, why="nothing emerges in these pairs")
            continue
        low, high = wilson(right, out_of, settings.level)
        yield replace(
            empty,
            value=right / out_of,
            low=low,
            high=high,
            n=right,
            verdict=_verdict(low, high, chance),
            beyond_noise=not low <= chance <= high,
            interval="Wilson",
        )
        yield Coverage(len(cells)).estimate(
            f"{name}_chance", {}, None, value=chance, interval="none: a share that is known"
        )


def _verdict(low: float, high: float, chance: float) -> str:
    if low <= chance <= high:
        return "not distinguishable from chance"
    return "above chance" if low > chance else "below chance"
