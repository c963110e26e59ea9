"""The first tables of results: a row a slice, or a row a model; a column a headline metric."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text
from stereometer.types import Estimate, Result, Slice

if TYPE_CHECKING:
    from stereometer.shapes.metric import Metric
    from stereometer.shapes.shape import Shape


@dataclass(frozen=True)
class Overview:
    """What is shown of results first: tables, and the lines under them."""

    tables: tuple[Table, ...]
    legend: tuple[str, ...] = ()
    title: str = ""
    """Instead of the title of the data."""
    remarks: tuple[str, ...] = ()
    """How the model was asked, after the title."""


@dataclass(frozen=True)
class Answered:
    """What a model wrote, beyond the numbers: as a JSON document and as tables."""

    document: Mapping[str, Any]
    overview: Overview = field(default_factory=lambda: Overview(()))


Row = tuple[str, Mapping[str, Estimate]]
"""What heads a row, and its estimates by name."""


def rows_of(
    shape: Shape, results: Sequence[Result], label: Callable[[Slice], str] = numbers.slice_name
) -> list[Row]:
    """One result by its headline slices; several by name, overall."""
    if len(results) > 1:
        return [(result.model, overall(result)) for result in results]
    by_slice: dict[tuple[tuple[str, str], ...], dict[str, Estimate]] = {}
    for estimate in results[0].estimates:
        if shape.headline_slice(estimate.slice):
            by_slice.setdefault(tuple(estimate.slice.items()), {})[estimate.name] = estimate
    return [(label(dict(slice_)), estimates) for slice_, estimates in by_slice.items()]


def overall(result: Result) -> dict[str, Estimate]:
    return {estimate.name: estimate for estimate in result.estimates if not estimate.slice}


def has(results: Sequence[Result], *names: str) -> bool:
    """Whether every result has these metrics overall, so that a table of them can be made."""
    return all(set(names) <= overall(result).keys() for result in results)


def plain(shape: Shape, results: Sequence[Result]) -> Overview:
    """For any kind of result: n of asked, every headline metric, and what the leading one says."""
    metrics = shape.metrics_of(results[0])
    shown = [metric for metric in metrics if metric.headline] or metrics
    rows = rows_of(shape, results)
    legend = absences(results, rows, [metric.name for metric in shown])
    return Overview((metric_table(rows, shown, shape.leading(results[0])),), tuple(legend))


def undeclared(shape: Shape, results: Sequence[Result]) -> tuple[Table, ...]:
    """A table of the metrics that a method has beyond those of the shape, if there are any."""
    names = {metric.name for metric in shape.metrics}
    others = [metric for metric in shape.metrics_of(results[0]) if metric.name not in names]
    return (metric_table(rows_of(shape, results), others, others[0]),) if others else ()


def metric_table(rows: Sequence[Row], metrics: Sequence[Metric], leading: Metric) -> Table:
    lead = leading if leading in metrics else metrics[0]
    heads = [number(numbers.headed(metric.label, metric.ideal)) for metric in metrics]
    body = []
    for label, estimates in rows:
        known = [estimates[metric.name] for metric in metrics if metric.name in estimates]
        if known:
            first = estimates.get(lead.name, known[0])
            cells = [value_cell(estimates.get(metric.name), metric.digits) for metric in metrics]
            body.append((text(label), used_cell(first), *cells, text(numbers.says(first))))
    columns = (text(""), number("n / asked"), *heads, text(f"what {lead.label} says"))
    return Table(columns, tuple(body))


def used_cell(estimate: Estimate) -> Cell:
    return number(f"{estimate.n} / {estimate.asked}")


def value_cell(estimate: Estimate | None, digits: int = 1) -> Cell:
    """Value and interval, or that there is none; the published value under it."""
    if estimate is None:
        return number("")
    published = estimate.published
    if estimate.value is None or published is None:
        return number(numbers.with_interval(estimate, digits))
    interval = numbers.with_interval(estimate, digits).partition(" ")[2]
    value = f"{estimate.value:.{digits + 1}f} {interval}".strip()
    return number(value, f"published {published.value:.{digits + 1}f}")


def absences(results: Sequence[Result], rows: Sequence[Row], names: Collection[str]) -> list[str]:
    """Why values are missing from a table, and how many items were skipped."""
    reasons = dict.fromkeys(
        estimate.why
        for _, estimates in rows
        for estimate in estimates.values()
        if estimate.value is None and estimate.name in names and estimate.least is None
    )
    lines = [f"none: {why}." for why in reasons]
    for result in results:
        skipped: dict[str, int] = {}
        for estimate in overall(result).values():
            skipped |= estimate.skipped
        lines += [
            f"{result.model}: {count} items skipped ({reason})."
            for reason, count in skipped.items()
        ]
    return lines
