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


SHORT = 24
"""Characters of what follows a verdict's colon, up to which it stands under the verdict."""
BEYOND = "*"
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
    lead = shape.leading(results[0])
    tables = (metric_table(rows, shown, lead), *by_slice(shape, results, lead))
    return Overview(tables, tuple(legend))


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
            body.append((text(label), used_cell(first), *cells, *verdict_cells(first)))
    columns = (text(""), number("n / asked"), *heads, *verdict_heads(f"what {lead.label} says"))
    return Table(columns, tuple(body))


def verdict_heads(title: str) -> tuple[Cell, Cell]:
    return text(title), number("p", spare=2)


def verdict_cells(estimate: Estimate) -> tuple[Cell, Cell]:
    """The verdict in short, and its p apart."""
    said = estimate.verdict or numbers.short(estimate)
    short, mark, rest = said.partition(":")
    detail = (rest.strip(),) if mark and len(rest) <= SHORT else ()
    p = estimate.p_adjusted
    shown = "" if not said or p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
    return text(short, *detail), number(shown)


def by_slice(shape: Shape, results: Sequence[Result], metric: Metric) -> tuple[Table, ...]:
    """The leading metric of several models: a row a slice, a column a model."""
    slices = dict.fromkeys(
        tuple(estimate.slice.items())
        for estimate in results[0].estimates
        if estimate.slice and shape.headline_slice(estimate.slice) and estimate.name == metric.name
    )
    if len(results) < 2 or not slices:
        return ()
    columns = [number(result.model, spare=at) for at, result in enumerate(results)]
    rows = [
        (
            text(numbers.slice_name(dict(slice_))),
            *(_marked(each, slice_, metric) for each in results),
        )
        for slice_ in slices
    ]
    head = text(numbers.headed(metric.label, metric.ideal))
    marked = any(cell.text.endswith(BEYOND) for row in rows for cell in row)
    return (Table((head, *columns), tuple(rows), foot=f"{BEYOND} beyond noise." if marked else ""),)


def _marked(result: Result, slice_: tuple[tuple[str, str], ...], metric: Metric) -> Cell:
    for estimate in result.estimates:
        if estimate.name == metric.name and tuple(estimate.slice.items()) == slice_:
            mark = f" {BEYOND}" if estimate.beyond_noise else "  "
            return number(numbers.with_interval(estimate, metric.digits) + mark)
    return number("")


def used_cell(estimate: Estimate) -> Cell:
    return number(f"{estimate.n} / {estimate.asked}")


def value_cell(estimate: Estimate | None, digits: int = 1) -> Cell:
    """Value and interval, or that there is none; the published value under it."""
    if estimate is None:
        return number("")
    printed = published_lines(estimate, digits)
    if estimate.value is None or not printed:
        return number(numbers.with_interval(estimate, digits))
    interval = numbers.with_interval(estimate, digits).partition(" ")[2]
    value = f"{estimate.value:.{digits + 1}f} {interval}".strip()
    return number(value, *printed)


def published_lines(estimate: Estimate, digits: int) -> tuple[str, ...]:
    """The published value where there is one, with no digits that were not printed."""
    published = estimate.published
    return (f"published {round(published.value, digits + 1):g}",) if published else ()


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
            f"{result.model}: {numbers.count(count, 'item')} skipped ({reason})."
            for reason, count in skipped.items()
        ]
    return lines
