"""The first table of minimal pairs: the preference, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.core.shapes import preference, view
from stereometer.core.shapes.shape import Shape
from stereometer.core.show import numbers
from stereometer.core.show.table import number, text
from stereometer.core.show.view import View, aside
from stereometer.core.types import Result

SHOWN = "pair_preference"
CONFIDENCE = "confidence_median_difference"


def first_tables(shape: Shape, results: Sequence[Result]) -> View:
    if not view.has(results, SHOWN):
        return view.plain(shape, results)
    rows = [row for row in view.rows_of(shape, results) if SHOWN in row[1]]
    declared = shape.metric(SHOWN)
    value = number(numbers.headed(declared.label, declared.ideal))
    columns = (view.head(results, shape), view.USED, value, *view.VERDICT)
    found = [(text(label), row[SHOWN]) for label, row in rows]
    cells = [
        (name, view.used_cell(row), view.tied_cell(row), *view.verdict_cells(row))
        for name, row in found
    ]
    sure = _confidence(shape, results[0]) if len(results) == 1 else []
    legend = (*view.absences(results, rows, (SHOWN,)), *sure, *preference.legend(results))
    tables = (view.narrowing(columns, cells), *view.by_slice(shape, results, declared))
    return View(parts=(*tables, *view.undeclared(shape, results), *aside(*legend)))


def _confidence(shape: Shape, result: Result) -> list[str]:
    found, metric = view.overall(result).get(CONFIDENCE), shape.metric(CONFIDENCE)
    if found is None or found.value is None:
        return []
    value = numbers.with_interval(found, metric.digits)
    return [f"{metric.label}: {value}, the difference of medians in percent (ideal 0)."]
