"""The verb `published`: values that papers printed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from stereometer.core.benchmarks.published import Value, aliases, system_of, values
from stereometer.core.errors import UnknownName, respelled
from stereometer.core.options import Option, verb
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import View, aside, notes
from stereometer.core.types.document import Document
from stereometer.core.types.shown import Tabular

SCHEMA = "published@1"
SHOWN = "`stereometer published` shows the tables there are."
BESIDE = "Beside a result of the same items, measure and model (variant paper)"
LISTED = "Only listed: of other items or another measure"
LONG = 3
"""More decimals than these are of a released file."""


@dataclass(frozen=True, repr=False)
class Listing(Tabular, Document):
    """Published values, table by table."""

    values: tuple[Value, ...]
    whole: bool = True
    """Whether values are printed, and not only which tables there are."""

    def view(self) -> View:
        every = [list(part) for _, part in groupby(self.values, lambda value: value.table.id)]
        if self.whole:
            return View(parts=tuple(map(_values, every)))
        tables = (_tables(every, BESIDE, True), _tables(every, LISTED, False))
        return View(parts=(*tables, *aside("`stereometer published BENCHMARK` shows the values.")))

    @property
    def remarks(self) -> list[str]:
        none = "No value of that model is known for the benchmark."
        return [] if self.values else [none]

    def rows(self) -> list[dict[str, Any]]:
        """Flat records, one per value."""
        rows = []
        for value in self.values:
            table, compared = value.table, bool(value.table.data and value.measure)
            head = {"benchmark": table.benchmark, "source": table.source, "split": table.split}
            rows.append({**head, **_fields(value), "method": table.method, "compared": compared})
        return rows

    def as_json(self) -> dict[str, Any]:
        """Each table once, with its values."""
        by_table: dict[str, dict[str, Any]] = {}
        for value in self.values:
            head = by_table.setdefault(value.table.id, _table(value))
            head["values"].append(_fields(value))
        return {"schema": SCHEMA, "tables": list(by_table.values())}


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


@verb
def published(
    benchmark: Annotated[
        str | None, Option("Only tables of this benchmark, with their values.", is_argument=True)
    ] = None,
    *,
    model: Annotated[str | None, "Only values of this model, by any of its names."] = None,
) -> Listing:
    """List values that papers published with their sources, also those that no result may stand
    beside."""
    whole = benchmark is not None or model is not None
    kept: Iterable[Value] = values()
    if benchmark is not None:
        known = dict.fromkeys(value.table.benchmark for value in values())
        benchmark = respelled(benchmark, known)
        if benchmark not in known:
            raise UnknownName("benchmark with published values", benchmark, known, SHOWN)
        kept = (value for value in kept if value.table.benchmark == benchmark)
    if model is not None:
        system = _system(model)
        kept = (value for value in kept if value.system == system)
    return Listing(tuple(kept), whole)


def _system(model: str) -> str:
    """Also one that was published under a name and cannot be had, such as `BERT + CDA`."""
    system = system_of(model)
    if system is not None:
        return system
    known = dict.fromkeys([*aliases(), *(value.system for value in values())])
    if model not in known:
        raise UnknownName("model with published values", model, known, SHOWN)
    return model


def _table(value: Value) -> dict[str, Any]:
    table = value.table
    return {
        "name": table.id,
        "benchmark": table.benchmark,
        "citation": table.paper,
        "place": table.place,
        "page": table.page,
        "split": table.split,
        "method": table.method,
        "compared": bool(table.data),
        "digest": table.data,
        "note": table.note,
        "values": [],
    }


def _fields(value: Value) -> dict[str, Any]:
    return {
        "system": value.system,
        "measure": value.measure,
        "name": value.name,
        "slice": dict(value.slice),
        "value": value.value,
        "asked": value.n,
        "requires": dict(value.requires),
        "note": value.note,
    }
