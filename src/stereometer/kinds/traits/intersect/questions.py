"""What is asked of pairs of groups: does order matter, which domain dominates, what emerges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from stereometer.core.errors import DataError, did_you_mean
from stereometer.core.shapes.points import Coverage
from stereometer.core.shapes.verdicts import ALL_ALIKE, at_floor
from stereometer.core.stats.intervals import Floats, generator, percentile, wilson
from stereometer.core.stats.tests import bootstrap_p, corrected
from stereometer.core.tables import read_table
from stereometer.core.types import Estimate, Settings
from stereometer.kinds.traits.abc.files import POLES, Trait
from stereometer.kinds.traits.intersect.crossing import Crossing, Emergent, resampled_means
from stereometer.kinds.traits.intersect.shape import FALSE_DISCOVERY, domination, out_of_reach
from stereometer.kinds.traits.metrics import ONE_TEMPLATE, OVER_TEMPLATES

LISTED = 50
"""Emergent traits shown of each direction, as in the paper's Table A10."""
FEW_GROUPS = 5
"""Groups of a domain below which drawing them again says nothing."""
OVER_GROUPS = "bootstrap over groups"
FLIPPED = "sign flips of templates, both parts"


# ---------------------------------------------------------------------------- Q1: does order matter


def order(table: Crossing, settings: Settings) -> Iterator[Estimate]:
    """Mean tau of a pair with its parts, with the closer part, and with its reverse. With its first
    and second part where both orders exist."""
    both = table.reversed >= 0
    values = {
        "tau_first_part": np.where(both, table.taus[:, 0], np.nan),
        "tau_second_part": np.where(both, table.taus[:, 1], np.nan),
        "tau_closer_part": np.fmax(*table.taus.T),
        "tau_reversed": table.reversed_taus,
    }
    rng = generator(settings.seed, {}, "order")
    drawn = resampled_means(table, values, settings.resamples, rng)
    few = f"fewer than {FEW_GROUPS} groups" if len(table.groups) < FEW_GROUPS else None
    for name, row in values.items():
        yield _mean(name, row, drawn[name], settings, few)


def _mean(
    name: str, row: Floats, drawn: Floats, settings: Settings, few: str | None, **fixed: str
) -> Estimate:
    """Over the pairs that have a value; without an interval where groups are too few."""
    known = row[~np.isnan(row)]
    empty = Coverage(row.size).estimate(name, fixed, None, n=known.size)
    if not known.size:
        return replace(empty, why="no pair has it")
    mean = replace(empty, value=float(known.mean()))
    if few:
        return replace(mean, interval=f"none: {few}")
    low, high = percentile(drawn[~np.isnan(drawn)], settings.level)
    return replace(mean, low=low, high=high, interval=OVER_GROUPS)


# ----------------------------------------------------------------------- Q2: which domain dominates


def dominance(table: Crossing, settings: Settings) -> list[Estimate]:
    """For two domains: mean tau of their pairs with the part of each, and the difference. A domain
    dominates from 0.1 on."""
    domains = list(dict.fromkeys(group.domain for group in table.groups))
    pairs = combinations(domains, 2)
    estimates = chain.from_iterable(_two_domains(table, *pair, settings) for pair in pairs)
    return [
        replace(estimate, verdict=_says(estimate, settings), ideal=0.0)
        if estimate.name == "dominance"
        else estimate
        for estimate in corrected(estimates, lambda estimate, p: (None, p < 1 - settings.level))
    ]


def _two_domains(
    table: Crossing, first: str, second: str, settings: Settings
) -> Iterator[Estimate]:
    of = np.array([group.domain for group in table.groups])[table.parts]
    forward = (of[:, 0] == first) & (of[:, 1] == second)
    here = forward | ((of[:, 0] == second) & (of[:, 1] == first))
    if not here.any():
        return
    by_domain = np.where(of[:, 0] == first, table.taus.T, table.taus.T[::-1])
    with_first, with_second = np.where(here, by_domain, np.nan)
    rows = {"one": with_first, "other": with_second, "difference": with_first - with_second}
    rng = generator(settings.seed, {"one": first, "other": second}, "dominance")
    drawn = resampled_means(table, rows, settings.resamples, rng)
    sizes = [np.unique(table.parts[here][of[here] == name]).size for name in (first, second)]
    few = f"fewer than {FEW_GROUPS} groups of a domain" if min(sizes) < FEW_GROUPS else None
    for name, row, domain, other in (
        ("tau_with_domain", "one", first, second),
        ("tau_with_domain", "other", second, first),
        ("dominance", "difference", first, second),
    ):
        places = {"domain": domain, "other_domain": other}
        estimate = _mean(name, rows[row], drawn[row], settings, few, **places)
        estimate = replace(estimate, asked=int(here.sum()))
        if name == "dominance" and estimate.low is not None:
            p = bootstrap_p(drawn[row][~np.isnan(drawn[row])])
            estimate = replace(estimate, p=p, test=OVER_GROUPS)
        yield estimate


def _says(estimate: Estimate, settings: Settings) -> str:
    dominates = domination(estimate, settings.level)
    if dominates is None:
        return "neither dominates"
    says = f"{dominates.winner} dominates {dominates.loser}"
    if estimate.p_adjusted is None:
        return f"{says}, not tested"
    floor = at_floor(estimate.p, estimate.p_adjusted, settings, sides=2)
    return says if dominates.sure else f"{says}, {floor or 'within noise'}"


# --------------------------------------------------------------------------------- Q3: what emerges


def emergence(table: Crossing, lists: Mapping[str, Sequence[Emergent]]) -> Iterator[Estimate]:
    """How many cells there are and how many stand the test, then the first of each direction."""
    count, templates = len(table.pairs) * len(table.traits) * len(POLES), len(table.paired)
    why = out_of_reach(templates, count)
    how = "none: a count, with the false-discovery rate held at 0.05"
    for direction, cells in lists.items():
        slice_, n = {"direction": direction}, len(cells)
        beyond = None if why else float(sum(cell.q < FALSE_DISCOVERY for cell in cells))
        known = {"value": beyond, "why": why, "n": n, "interval": how}
        yield Coverage(count).estimate("emergent_cells", slice_, None, **known)
        for cell in cells[:LISTED]:
            estimate, emerges = _emerging(table, cell, len(cells)), cell.q < FALSE_DISCOVERY
            says = "emerges" if emerges else "not distinguishable from its parts"
            yield estimate if why else replace(estimate, verdict=says, beyond_noise=emerges)


def _emerging(table: Crossing, cell: Emergent, tests: int) -> Estimate:
    how = ONE_TEMPLATE if cell.templates < 2 else ALL_ALIKE
    known: dict[str, Any] = {"value": cell.centred, "interval": how}
    if not isnan(cell.low):
        known |= {"low": cell.low, "high": cell.high, "interval": OVER_TEMPLATES}
    known |= {"p": cell.p, "p_adjusted": cell.q, "tests": tests, "test": FLIPPED}
    return Coverage(cell.templates).estimate("emergence", place(table, cell), 0.0, **known)


def place(table: Crossing, cell: Emergent) -> dict[str, str]:
    """The slice of a cell."""
    return {
        "group": table.pairs[cell.pair].name,
        "adjective": table.traits[cell.trait].head(POLES[cell.pole]),
        "direction": cell.direction,
    }


ADJECTIVES, DIMENSIONS = ("group", "adjective"), ("group", "dimension", "side")
SIDES = {"left": 0, "low": 0, "right": 1, "high": 1}
SHOWN = 40
"""Names shown where none is near."""

Cell = tuple[str, str]
"""A pair of groups, and a head adjective or a side of a dimension."""


@dataclass(frozen=True)
class ExpectedTraits:
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
                trait = table.traits[cell.trait]
                side = side_of(trait.dimension, cell.pole)
                name = side if self.by_dimension else trait.head(POLES[cell.pole])
                values.setdefault((pair, name), []).append(cell.increase)
        return {cell: fmean(known) for cell, known in values.items()}


def side_of(dimension: str, pole: int) -> str:
    return f"{dimension}, {POLES[pole]}"


def read_expected(path: Path, pairs: Sequence[str], traits: Sequence[Trait]) -> ExpectedTraits:
    """A table of `group, adjective`, or of `group, dimension, side`: left (low) or right (high)."""
    first = next((row for _, row in read_table(path, ["group"])), {})
    by_dimension = "dimension" in first and "adjective" not in first
    adjectives = [trait.head(pole) for trait in traits for pole in POLES]
    dimensions = list(dict.fromkeys(trait.dimension for trait in traits))
    cells = set()
    for line, row in read_table(path, DIMENSIONS if by_dimension else ADJECTIVES):
        where, group = f"{path}, line {line}", row["group"].strip()
        _check(where, "pair of groups", group, pairs)
        if by_dimension:
            dimension = _check(where, "dimension", row["dimension"].strip(), dimensions)
            side = _check(where, "side", row["side"].strip().lower(), list(SIDES))
            cells.add((group, side_of(dimension, SIDES[side])))
        else:
            adjective = _check(where, "adjective", row["adjective"].strip(), adjectives)
            cells.add((group, adjective))
    if not cells:
        raise DataError(
            f"{path} has no rows. There is nothing to compare with. "
            "Check that it is the right file."
        )
    return ExpectedTraits(frozenset(cells), by_dimension)


def _check(where: str, kind: str, name: str, known: Sequence[str]) -> str:
    if name in known:
        return name
    shown = f"{', '.join(known[:SHOWN])}{' ...' if len(known) > SHOWN else ''}"
    near = did_you_mean(name, dict(zip(known, known, strict=True)))
    raise DataError(
        f"{where}: there is no {kind} called '{name}'. {near or f'Known: {shown}.'} Fix the row."
    )


def agreement(
    expected: ExpectedTraits, listed: Sequence[Emergent], table: Crossing, settings: Settings
) -> Iterator[Estimate]:
    """Among the pairs that the table speaks of: emergent is what is above both parts. Chance is a
    list as long, drawn blindly."""
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
        is_chance = low <= chance <= high
        beside = "above chance" if low > chance else "below chance"
        says = "not distinguishable from chance" if is_chance else beside
        found = replace(empty, value=right / out_of, low=low, high=high, interval="Wilson", n=right)
        yield replace(found, verdict=says, beyond_noise=not is_chance)
        yield Coverage(len(cells)).estimate(
            f"{name}_chance", {}, None, value=chance, interval="none: a share that is known"
        )
