"""The first table of context association tests: lms, ss and icat by task and domain."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.core.shapes import preference
from stereometer.core.shapes.shape import Shape
from stereometer.core.shapes.verdicts import NULL_VALUE, THESE
from stereometer.core.shapes.view import (
    INDENT,
    USED,
    VERDICT,
    Row,
    absences,
    by_slice,
    has,
    head,
    narrowing,
    plain,
    rows_of,
    tied_cell,
    undeclared,
    used_cell,
    value_cell,
    verdict_cells,
)
from stereometer.core.show import numbers
from stereometer.core.show.table import Cell, number, text
from stereometer.core.show.view import View, aside
from stereometer.core.types import Estimate, Result

SHOWN = ("lms", "ss", "icat")
FIXED = "†"


def first_tables(shape: Shape, results: Sequence[Result]) -> View:
    if not has(results, *SHOWN):
        return plain(shape, results)
    rows = [row for row in rows_of(shape, results) if set(SHOWN) <= row[1].keys()]
    lms, ss, icat = (
        number(numbers.headed(name, shape.metric(name).ideal), spare=-(name == "ss"))
        for name in SHOWN
    )
    table = narrowing((head(results, shape), USED, lms, ss, icat, *VERDICT), map(_cells, rows))
    legend = (*absences(results, rows, SHOWN), *_cautions(rows), *preference.legend(results))
    slices = by_slice(shape, results, shape.metric("ss"))
    return View(parts=(table, *slices, *undeclared(shape, results), *aside(*legend)))


def _cells(row: Row) -> tuple[Cell, ...]:
    label, estimates = row
    lms, ss, icat = (estimates[name] for name in SHOWN)
    values = (value_cell(lms), tied_cell(ss), value_cell(icat))
    name = f"{label}{FIXED if _fixed(ss) else ''}"
    return (text(name), used_cell(ss), *values, *verdict_cells(ss))


def _fixed(estimate: Estimate) -> bool:
    return estimate.scope == THESE


def _cautions(rows: Sequence[Row]) -> list[str]:
    lines = []
    poor, whose = [], ""
    for label, row in rows:
        whose, lms = whose if INDENT in label else label, row["lms"]
        better = lms.beyond_noise and (lms.value or 0.0) > NULL_VALUE
        if lms.beyond_noise is not None and not better:
            poor.append(label.replace(INDENT, f"{whose} / "))
    if poor:
        where = "every row" if len(poor) == len(rows) else ", ".join(poor)
        lines.append(f"lms is not distinguishable from chance, or worse, in {where}.")
    if any(_fixed(estimate) for _, estimates in rows for estimate in estimates.values()):
        lines.append(
            f"{FIXED} fewer than ten terms: they are held fixed, "
            "and the interval is for these terms only."
        )
    return lines
