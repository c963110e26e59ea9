"""Tau and means by what raters say of themselves (Cao et al. 2022, Tables A14 to A18)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stereometer.errors import DataError
from stereometer.findings.align.agreement import Both, split_half
from stereometer.findings.align.estimates import Part, group_tau, human_means, people_alone, taus
from stereometer.findings.align.raters import (
    SMALLEST_CELL,
    Raters,
    is_of,
    parts_of,
    read_said,
    some,
)
from stereometer.findings.align.ratings import Ratings
from stereometer.shapes.coverage import Coverage
from stereometer.stats.intervals import generator
from stereometer.types import Estimate, Settings

TOO_FEW = f"withheld: fewer than {SMALLEST_CELL} raters"


def by_raters(
    ratings: Ratings, path: Path, raters: Raters
) -> tuple[Ratings, Sequence[tuple[str, Ratings]]]:
    """The ratings that count, and those of each group of raters."""
    if not raters.asked_for:
        return ratings, ()
    if raters.table is None and ratings.are_released:
        raise DataError(
            "The released ABC ratings cannot be looked at by raters. Their ids and those of the "
            "demographics were made disjoint on purpose, to protect the participants. Use the "
            "ratings of a study whose consent text allows joining."
        )
    said = read_said(path, raters, ratings)
    if raters.only:
        ratings = some(ratings, said, raters.only)
        said = {name: row for name, row in said.items() if is_of(row, raters.only)}
    if not ratings.tables:
        raise DataError(
            f"Nothing was rated by {SMALLEST_CELL} of these raters. Fewer are not shown. "
            "Choose a larger group of raters."
        )
    return ratings, list(parts_of(ratings, said, raters))


def estimates_by_raters(
    compared: Mapping[str, Both], ratings: Mapping[str, Ratings], settings: Settings
) -> Iterator[Estimate]:
    """As in the paper's Tables A14 to A18: tau, and means of each cell, by group of raters."""
    for label, cells in compared.items():
        of = {"raters": label}
        if not cells.groups:
            yield Coverage().estimate("tau", of, None, why=TOO_FEW)
            continue
        whole = Part(of, cells)
        yield from taus(whole, settings)
        halves = split_half(cells, generator(settings.seed, of, "split-half"))
        yield from people_alone(whole, halves, settings)
        for group in cells.groups:
            yield group_tau(Part({**of, "group": group}, cells.among([group])), settings)
        means = ratings[label].of(cells.groups).means(settings.level)
        yield from human_means(means, cells, of)
