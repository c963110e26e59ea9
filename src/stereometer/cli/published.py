"""Values that papers printed, with their sources."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from stereometer.cli import render
from stereometer.show.table import Cell, Table, number, text

if TYPE_CHECKING:
    from stereometer.benchmarks.published import Listing, Value


BESIDE = "Beside a result of the same items, measure and model (variant paper)"
LISTED = "Only listed: of other items or another measure"
LONG = 3
"""More decimals than these are of a released file."""


def print_listing(listing: Listing) -> None:
    every = [list(part) for _, part in groupby(listing.values, lambda value: value.table.id)]
    (_values if listing.whole else _tables)(every)


def _tables(every: Sequence[Sequence[Value]]) -> None:
    """What there is, a line a table."""
    for title, compared in ((BESIDE, True), (LISTED, False)):
        rows = [
            (text(table.benchmark), text(table.source), text(table.split), number(str(len(part))))
            for part in every
            if bool((table := part[0].table).data) is compared
        ]
        columns = (text("benchmark"), text("table"), text("of", spare=1), number("values"))
        render.table(Table(columns, tuple(rows), title))
    render.aside("`stereometer published BENCHMARK` shows the values.")


def _values(every: Sequence[Sequence[Value]]) -> None:
    for part in every:
        table = part[0].table
        compared = "" if table.data else "never beside a result"
        render.heading(table.source)
        render.aside("; ".join(filter(None, (table.split, table.method, compared))))
        render.table(_pivot(part))
        notes = [table.note, *(f"{value.name}: {value.note}" for value in part if value.note)]
        render.notes(filter(None, dict.fromkeys(notes)))


def _pivot(part: Sequence[Value]) -> Table:
    """A row for each system, measure and slice, a column for each metric."""
    names = list(dict.fromkeys(value.name for value in part))
    several = len({value.measure for value in part}) > 1
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for value in part:
        measure = [value.measure] if several else []
        place = ", ".join(value.slice.values()) or "overall"
        cells = rows.setdefault((value.system, *measure, place), {})
        cells[value.name] = f"{value.value:.{value.digits if value.digits <= LONG else 2}f}"
    heads: list[Cell] = [text("system"), *([text("measure")] if several else []), text("slice")]
    numbers = [number(name, spare=at if at > 2 else 0) for at, name in enumerate(names)]
    body = (
        (*map(text, head), *(number(cells.get(name, "")) for name in names))
        for head, cells in rows.items()
    )
    return Table((*heads, *numbers), tuple(body))
