"""Emergent traits beside those that somebody expects: precision, recall, and what chance gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stereometer.benchmarks.abc.traits import POLES, Trait
from stereometer.errors import DataError, did_you_mean
from stereometer.findings.intersect.crossing import Crossing
from stereometer.findings.intersect.emergence import Emergent
from stereometer.shapes.coverage import Coverage
from stereometer.stats.intervals import wilson
from stereometer.tables import read_table
from stereometer.types import Estimate, Settings

COLUMNS, NOUNS = ("group", "adjective"), ("pair of groups", "adjective")
SHOWN = 40
"""Names shown where none is near."""

Adjective = tuple[str, str]
"""A pair of groups and a head adjective."""


@dataclass(frozen=True)
class Expected:
    cells: frozenset[Adjective]

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(group for group, _ in self.cells)


def read_expected(path: Path, pairs: Sequence[str], traits: Sequence[Trait]) -> Expected:
    """A table of `group, adjective`: pairs of the crossing, and head adjectives of the traits."""
    adjectives = [trait.head(pole) for trait in traits for pole in POLES]
    cells = set()
    for line, row in read_table(path, COLUMNS):
        cell = row["group"].strip(), row["adjective"].strip()
        for kind, name, known in zip(NOUNS, cell, (pairs, adjectives), strict=True):
            if name not in known:
                shown = f"{', '.join(known[:SHOWN])}{' ...' if len(known) > SHOWN else ''}"
                near = did_you_mean(name, dict(zip(known, known, strict=True)))
                raise DataError(
                    f"{path}, line {line}: there is no {kind} called '{name}'. "
                    f"{near or f'Known: {shown}.'} Repair the row."
                )
        cells.add(cell)
    if not cells:
        raise DataError(
            f"{path} has no rows. There is nothing to compare with. "
            "Check that it is the right file."
        )
    return Expected(frozenset(cells))


def agreement(
    expected: Expected, listed: Sequence[Emergent], table: Crossing, settings: Settings
) -> Iterator[Estimate]:
    """Among the pairs that the table speaks of: emergent is what is above both parts.

    Chance is a list as long, drawn blindly.
    """
    spoken = [cell for cell in listed if table.pairs[cell.pair].name in expected.groups]
    emerging = {_adjective(table, cell) for cell in spoken if cell.increase > 0}
    cells, wanted = {_adjective(table, cell) for cell in spoken}, expected.cells
    right = len(emerging & wanted)
    for name, out_of, chance in (
        ("expected_precision", len(emerging), len(wanted & cells) / max(1, len(cells))),
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
            interval="Wilson",
        )
        yield Coverage(len(cells)).estimate(
            f"{name}_chance", {}, None, value=chance, interval="none: a share that is known"
        )


def _verdict(low: float, high: float, chance: float) -> str:
    if low <= chance <= high:
        return "not distinguishable from chance"
    return "above chance" if low > chance else "below chance"


def _adjective(table: Crossing, cell: Emergent) -> Adjective:
    return table.pairs[cell.pair].name, table.traits[cell.trait].head(POLES[cell.pole])
