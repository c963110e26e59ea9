"""Emergent traits beside those that somebody expects: precision, recall, and what chance gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stereometer.benchmarks.abc.traits import POLES, Trait
from stereometer.errors import DataError, did_you_mean
from stereometer.files import read_table
from stereometer.findings.intersect.crossing import Crossing
from stereometer.findings.intersect.emergence import Emergent
from stereometer.stats.intervals import wilson
from stereometer.types import Estimate, Settings

COLUMNS = ("group", "adjective")
SHOWN = 40
"""Names shown where none is near."""

Cell = tuple[str, str]
"""A pair of groups and a head adjective."""


@dataclass(frozen=True)
class Expected:
    cells: frozenset[Cell]

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(group for group, _ in self.cells)


def read_expected(path: Path, pairs: Sequence[str], traits: Sequence[Trait]) -> Expected:
    """A table of `group, adjective`: pairs of the crossing, and head adjectives of the traits."""
    adjectives = [trait.head(pole) for trait in traits for pole in POLES]
    found = set()
    for line, row in read_table(path, COLUMNS):
        cell = row["group"].strip(), row["adjective"].strip()
        for kind, name, known in (
            ("pair of groups", cell[0], pairs),
            ("adjective", cell[1], adjectives),
        ):
            if name not in known:
                hint = did_you_mean(name, dict(zip(known, known, strict=True)))
                hint = (
                    hint
                    or f"Known: {', '.join(known[:SHOWN])}{' ...' if len(known) > SHOWN else ''}."
                )
                raise DataError(
                    f"{path}, line {line}: there is no {kind} called '{name}'. {hint} Repair the row."
                )
        found.add(cell)
    if not found:
        raise DataError(
            f"{path} has no rows. There is nothing to compare with. Check that it is the right file."
        )
    return Expected(frozenset(found))


def agreement(
    expected: Expected, every: Sequence[Emergent], found: Crossing, settings: Settings
) -> Iterator[Estimate]:
    """Among the pairs that the table speaks of: emergent is what is above both parts. Chance is a list as long, drawn blindly."""
    spoken = [one for one in every if found.pairs[one.pair].name in expected.groups]
    emerging = {_cell(found, one) for one in spoken if one.increase > 0}
    cells, wanted = {_cell(found, one) for one in spoken}, expected.cells
    right = len(emerging & wanted)
    for name, out_of, chance in (
        ("expected_precision", len(emerging), len(wanted & cells) / max(1, len(cells))),
        ("expected_recall", len(wanted), len(emerging) / max(1, len(cells))),
    ):
        empty = Estimate(name, {}, None, None, None, right, out_of, 0, 1.0)
        if not out_of:
            yield Estimate(
                name, {}, None, None, None, 0, 0, 0, 1.0, why="nothing emerges in these pairs"
            )
            continue
        low, high = wilson(right, out_of, settings.level)
        verdict = (
            "above chance"
            if low > chance
            else "below chance"
            if high < chance
            else "not distinguishable from chance"
        )
        yield Estimate(
            name,
            {},
            right / out_of,
            low,
            high,
            empty.n,
            empty.asked,
            0,
            1.0,
            verdict=verdict,
            interval="Wilson",
        )
        yield Estimate(
            f"{name}_chance",
            {},
            chance,
            None,
            None,
            len(cells),
            len(cells),
            0,
            None,
            interval="none: a share that is known",
        )


def _cell(found: Crossing, one: Emergent) -> Cell:
    return found.pairs[one.pair].name, found.traits[one.trait].head(POLES[one.pole])
