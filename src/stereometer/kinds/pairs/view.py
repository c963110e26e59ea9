"""The first table of minimal pairs: the preference, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.core.shapes import preference
from stereometer.core.shapes.shape import Shape
from stereometer.core.shapes.view import (
    USED,
    VERDICT,
    absences,
    by_slice,
    has,
    head,
    narrowing,
    overall,
    plain,
    rows_of,
    tied_cell,
    undeclared,
    used_cell,
    verdict_cells,
)
from stereometer.core.show import numbers
from stereometer.core.show.table import number, text
from stereometer.core.show.view import View, aside
from stereometer.core.types import Result

SHOWN = "pair_preference"
CONFIDENCE = "confidence_median_difference"


def first_tables(shape: Shape, results: Sequence[Result]) -> View:
    if not has(results, SHOWN):
        return plain(shape, results)
    rows = [row for row in rows_of(shape, results) if SHOWN in row[1]]
    declared = shape.metric(SHOWN)
    value = number(numbers.headed(declared.label, declared.ideal))
    columns = (head(results, shape), USED, value, *VERDICT)
    found = [(text(label), row[SHOWN]) for label, row in rows]
    cells = [(name, used_cell(row), tied_cell(row), *verdict_cells(row)) for name, row in found]
    sure = _confidence(shape, results[0]) if len(results) == 1 else []
    legend = (*absences(results, rows, (SHOWN,)), *sure, *preference.legend(results))
    tables = (narrowing(columns, cells), *by_slice(shape, results, declared))
    return View(parts=(*tables, *undeclared(shape, results), *aside(*legend)))


def _confidence(shape: Shape, result: Result) -> list[str]:
    found, metric = overall(result).get(CONFIDENCE), shape.metric(CONFIDENCE)
    if found is None or found.value is None:
        return []
    value = numbers.with_interval(found, metric.digits)
    return [f"{metric.label}: {value}, the difference of medians in percent (ideal 0)."]
