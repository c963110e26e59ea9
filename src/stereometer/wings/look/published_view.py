"""Values that papers printed, with their sources, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import View, aside, notes

if TYPE_CHECKING:
    from stereometer.core.benchmarks.published import Value
    from stereometer.wings.look.published import Listing

BESIDE = "Beside a result of the same items, measure and model (variant paper)"
LISTED = "Only listed: of other items or another measure"
LONG = 3
"""More decimals than these are of a released file."""


def listing(shown: Listing) -> View:
    every = [list(part) for _, part in groupby(shown.values, lambda value: value.table.id)]
    if shown.whole:
        return View(parts=tuple(map(_values, every)))
    tables = (_tables(every, BESIDE, True), _tables(every, LISTED, False))
    return View(parts=(*tables, *aside("`stereometer published BENCHMARK` shows the values.")))


def _tables(every: Sequence[Sequence[Value]], title: str, compared: bool) -> Table:
    """What there is, a line a table."""
    rows = [
        (text(table.benchmark), text(table.source), text(table.split), number(str(len(part))))
        for part in every
        if bool((table := part[0].table).data) is compared
    ]
    columns = (text("benchmark"), text("table"), text("of", spare=1), number("values"))
    return Table(columns, tuple(rows), title)


def _values(part: Sequence[Value]) -> View:
    table = part[0].table
    compared = "" if table.data else "never beside a result"
    how = "; ".join(filter(None, (table.split, table.method, compared)))
    lines = [table.note, *(f"{value.name}: {value.note}" for value in part if value.note)]
    said = notes(filter(None, dict.fromkeys(lines)))
    return View(table.source, parts=(*aside(how), _pivot(part), *said))


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
