"""The first table of minimal pairs: the preference, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.shapes import preference
from stereometer.shapes.overview import (
    Overview,
    absences,
    by_slice,
    has,
    overall,
    plain,
    rows_of,
    undeclared,
    used_cell,
    value_cell,
    verdict_cells,
    verdict_heads,
)
from stereometer.shapes.shape import Shape
from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text
from stereometer.types import Estimate, Result

SHOWN = "pair_preference"
CONFIDENCE = "confidence_median_difference"


def overview(shape: Shape, results: Sequence[Result]) -> Overview:
    if not has(results, SHOWN):
        return plain(shape, results)
    rows = [row for row in rows_of(shape, results) if SHOWN in row[1]]
    declared = shape.metric(SHOWN)
    head = number(numbers.headed(declared.label, declared.ideal))
    counts = (number("n / asked"), number("ties", spare=4))
    columns = (text(""), *counts, head, *verdict_heads("what it says"))
    body = [_cells(label, estimates[SHOWN]) for label, estimates in rows]
    confidence = overall(results[0]).get(CONFIDENCE) if len(results) == 1 else None
    if confidence is not None and confidence.value is not None:
        value = value_cell(confidence, shape.metric(CONFIDENCE).digits)
        says = text("difference of medians, in percent (ideal 0)")
        label = text(shape.metric(CONFIDENCE).label)
        body.append((label, used_cell(confidence), number(""), value, says, number("")))
    legend = (*absences(results, rows, (SHOWN,)), *preference.legend(results))
    tables = (Table(columns, tuple(body)), *by_slice(shape, results, declared))
    return Overview((*tables, *undeclared(shape, results)), legend)


def _cells(label: str, estimate: Estimate) -> tuple[Cell, ...]:
    values = (number(numbers.ties(estimate)), value_cell(estimate))
    return (text(label), used_cell(estimate), *values, *verdict_cells(estimate))
