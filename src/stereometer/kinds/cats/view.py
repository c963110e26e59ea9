"""The first table of context association tests: lms, ss and icat by task and domain."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.core.shapes import preference, view
from stereometer.core.shapes.shape import Shape
from stereometer.core.shapes.verdicts import NULL_VALUE, THESE
from stereometer.core.show import numbers
from stereometer.core.show.table import Cell, number, text
from stereometer.core.show.view import View, aside
from stereometer.core.types import Result

SHOWN = ("lms", "ss", "icat")
FIXED = "†"


def first_tables(shape: Shape, results: Sequence[Result]) -> View:
    if not view.has(results, *SHOWN):
        return view.plain(shape, results)
    rows = [row for row in view.rows_of(shape, results) if set(SHOWN) <= row[1].keys()]
    lms, ss, icat = (
        number(numbers.headed(name, shape.metric(name).ideal), spare=-(name == "ss"))
        for name in SHOWN
    )
    table = view.narrowing(
        (view.head(results, shape), view.USED, lms, ss, icat, *view.VERDICT), map(_cells, rows)
    )
    legend = (*view.absences(results, rows, SHOWN), *_cautions(rows), *preference.legend(results))
    slices = view.by_slice(shape, results, shape.metric("ss"))
    return View(parts=(table, *slices, *view.undeclared(shape, results), *aside(*legend)))


def _cells(row: view.Row) -> tuple[Cell, ...]:
    label, estimates = row
    lms, ss, icat = (estimates[name] for name in SHOWN)
    values = (view.value_cell(lms), view.tied_cell(ss), view.value_cell(icat))
    name = f"{label}{FIXED if ss.scope == THESE else ''}"
    return (text(name), view.used_cell(ss), *values, *view.verdict_cells(ss))


def _cautions(rows: Sequence[view.Row]) -> list[str]:
    lines = []
    poor, whose = [], ""
    for label, row in rows:
        whose, lms = whose if view.INDENT in label else label, row["lms"]
        better = lms.beyond_noise and (lms.value or 0.0) > NULL_VALUE
        if lms.beyond_noise is not None and not better:
            poor.append(label.replace(view.INDENT, f"{whose} / "))
    if poor:
        where = "every row" if len(poor) == len(rows) else ", ".join(poor)
        lines.append(f"lms is not distinguishable from chance, or worse, in {where}.")
    if any(estimate.scope == THESE for _, row in rows for estimate in row.values()):
        lines.append(
            f"{FIXED} fewer than ten terms: they are held fixed, "
            "and the interval is for these terms only."
        )
    return lines
