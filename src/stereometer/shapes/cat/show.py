"""The first table of context association tests: lms, ss and icat by task and domain."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.shapes import preference
from stereometer.shapes.overview import (
    Overview,
    Row,
    absences,
    by_slice,
    has,
    plain,
    rows_of,
    undeclared,
    used_cell,
    value_cell,
    verdict_cells,
    verdict_heads,
)
from stereometer.shapes.shape import Shape
from stereometer.shapes.verdicts import NULL_VALUE, THESE
from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text
from stereometer.types import Estimate, Result

SHOWN = ("lms", "ss", "icat")
SPARE = {"icat": 3, "lms": 1}
"""Which of them a narrow terminal leaves out first; never ss."""
FIXED = "†"


def overview(shape: Shape, results: Sequence[Result]) -> Overview:
    if not has(results, *SHOWN):
        return plain(shape, results)
    rows = [row for row in rows_of(shape, results) if set(SHOWN) <= row[1].keys()]
    lms, ss, icat = (
        number(numbers.headed(name, shape.metric(name).ideal), spare=SPARE.get(name, 0))
        for name in SHOWN
    )
    terms, ties = number("terms", spare=5), number("ties", spare=4)
    columns = (text(""), number("n / asked"), terms, lms, ss, ties, icat)
    table = Table((*columns, *verdict_heads("what ss says")), tuple(_cells(row) for row in rows))
    legend = (*absences(results, rows, SHOWN), *_cautions(rows), *preference.legend(results))
    slices = by_slice(shape, results, shape.metric("ss"))
    return Overview((table, *slices, *undeclared(shape, results)), legend)


def _cells(row: Row) -> tuple[Cell, ...]:
    label, estimates = row
    lms, ss, icat = (estimates[name] for name in SHOWN)
    values = (value_cell(lms), value_cell(ss), number(numbers.ties(ss)), value_cell(icat))
    name, terms = f"{label}{FIXED if _fixed(ss) else ''}", number(str(ss.terms))
    return (text(name), used_cell(ss), terms, *values, *verdict_cells(ss))


def _fixed(estimate: Estimate) -> bool:
    return estimate.scope == THESE


def _poor(lms: Estimate) -> bool:
    """Tested, and not better than chance."""
    better = lms.beyond_noise and (lms.value or 0.0) > NULL_VALUE
    return lms.beyond_noise is not None and not better


def _cautions(rows: Sequence[Row]) -> list[str]:
    lines = []
    poor = [label for label, row in rows if _poor(row["lms"])]
    if poor:
        where = "every row" if len(poor) == len(rows) else ", ".join(poor)
        lines.append(f"lms is not distinguishable from chance, or worse, in {where}.")
    if any(_fixed(estimate) for _, estimates in rows for estimate in estimates.values()):
        lines.append(
            f"{FIXED} fewer than ten terms: they are held fixed, "
            "and the interval is for these terms only."
        )
    return lines
