"""The first tables of results: a row per model and slice, a column per headline metric."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stereometer.core.shapes.verdicts import THESE
from stereometer.core.show import numbers
from stereometer.core.show.slices import fixed_name
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import View, aside
from stereometer.core.types import Estimate, Result, Slice

if TYPE_CHECKING:
    from stereometer.core.shapes.shape import Metric, Shape


@dataclass(frozen=True)
class Answered:
    """What a model wrote, beyond the numbers: as a JSON document and as tables."""

    document: Mapping[str, Any]
    view: View = field(default_factory=View)


INDENT = 2 * numbers.NO_BREAK
SHORT = 24
"""Characters of what follows a verdict's colon, up to which it stands under the verdict."""
BEYOND = "*"
BLANK, USED = text(""), number("n / asked", spare=9)
VERDICT = text("verdict", spare=-1), number("p", spare=-1)
Row = tuple[str, Mapping[str, Estimate]]
"""What heads a row, and its estimates by name."""


def rows_of(
    shape: Shape, results: Sequence[Result], label: Callable[[Slice], str] = numbers.slice_name
) -> list[Row]:
    """One result by its slices; several by name, each with its principal slices under it."""
    if len(results) == 1:
        return [(label(slice_), row) for slice_, row in _by_slice(shape, results[0])]
    return [
        (f"{INDENT}{label(slice_)}" if slice_ else system_name(result), row)
        for result in results
        for slice_, row in _by_slice(shape, result)
        if not slice_ or (shape.principal and shape.first_slice(slice_))
    ]


def _by_slice(shape: Shape, result: Result) -> list[tuple[Slice, dict[str, Estimate]]]:
    rows: dict[tuple[tuple[str, str], ...], dict[str, Estimate]] = {(): {}}
    for estimate in result.estimates:
        if shape.headline_slice(estimate.slice):
            rows.setdefault(tuple(estimate.slice.items()), {})[estimate.name] = estimate
    return [(dict(slice_), row) for slice_, row in rows.items() if row]


def system_name(result: Result) -> str:
    """What was made from the gold labels is no model, and says so."""
    constructed = result.scoring == "constructed"
    return f"{result.model} (constructed)" if constructed else result.model


def head(results: Sequence[Result], shape: Shape) -> Cell:
    """Over the names of the rows."""
    if len(results) == 1 or not shape.principal:
        return text("")
    return text(f"overall, by {fixed_name(shape.principal, many=False)}")


def first_rows(shape: Shape, result: Result) -> Result:
    """The result with the slices of the first table alone."""
    kept = [row for row in result.estimates if shape.first_slice(row.slice)]
    return replace(result, estimates=tuple(kept))


def left_out(shape: Shape, result: Result) -> str:
    """The line under a first table that says which slices exist, and how to see them."""
    every = dict.fromkeys(
        tuple(row.slice.items())
        for row in result.estimates
        if shape.headline_slice(row.slice) and not shape.first_slice(row.slice)
    )
    if not every:
        return ""
    kinds = dict.fromkeys(fixed_name(tuple(dict(slice_)), many=True) for slice_ in every)
    return (
        f"{numbers.count(len(every), 'more slice')} ({', '.join(kinds)}): --slices; "
        "also in the report and in result.json."
    )


def overall(result: Result) -> dict[str, Estimate]:
    return {estimate.name: estimate for estimate in result.estimates if not estimate.slice}


def has(results: Sequence[Result], *names: str) -> bool:
    """Whether every result has these metrics overall, so that a table of them can be made."""
    return all(set(names) <= overall(result).keys() for result in results)


def plain(shape: Shape, results: Sequence[Result]) -> View:
    """For any kind of result: n of asked, every headline metric, and what the leading one says."""
    metrics = shape.metrics_of(results[0])
    shown = [metric for metric in metrics if metric.headline] or metrics
    rows = rows_of(shape, results)
    legend = absences(results, rows, [metric.name for metric in shown])
    lead = shape.leading(results[0])
    table = metric_table(rows, shown, lead, head(results, shape))
    return View(parts=(table, *by_slice(shape, results, lead), *aside(*legend)))


def undeclared(shape: Shape, results: Sequence[Result]) -> tuple[Table, ...]:
    """A table of the metrics that a method has beyond those of the shape, if there are any."""
    names = {metric.name for metric in shape.metrics}
    others = [metric for metric in shape.metrics_of(results[0]) if metric.name not in names]
    return (metric_table(rows_of(shape, results), others, others[0]),) if others else ()


def metric_table(
    rows: Sequence[Row],
    metrics: Sequence[Metric],
    leading: Metric,
    first: Cell = BLANK,
    ties: bool = False,
    fixed: str = "",
) -> Table:
    """With `ties`, these and what is unanswered stand under the leading values; `fixed` marks rows
    that speak of their own few terms alone."""
    lead = leading if leading in metrics else metrics[0]
    heads = [
        number(numbers.headed(metric.label, metric.ideal), spare=-(metric == lead))
        for metric in metrics
    ]
    body = []
    for label, estimates in rows:
        known = [estimates[metric.name] for metric in metrics if metric.name in estimates]
        if known:
            leads = estimates.get(lead.name, known[0])
            name = text(label + fixed * (leads.scope == THESE))
            cells = [
                value_cell(estimates.get(metric.name), metric.digits, ties and metric == lead)
                for metric in metrics
            ]
            body.append((name, used_cell(leads), *cells, *verdict_cells(leads)))
    return narrowing((first, USED, *heads, *VERDICT), body)


def narrowing(columns: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> Table:
    """A table that begins with a name and a count, and ends with a verdict and its p. In a narrow
    window counts stand under names, intervals under values and p under verdicts: no column has
    to go."""
    every = [tuple(columns), *map(tuple, rows)]
    lean = [
        (_over(name, used), *(cell.stacked for cell in values), _over(verdict, p, "p "))
        for name, used, *values, verdict, p in every
    ]
    return Table(every[0], tuple(every[1:]), narrow=Table(lean[0], tuple(lean[1:]), gap=1))


def _over(cell: Cell, other: Cell, named: str = "") -> Cell:
    """A cell with another under it, as far in as itself."""
    inside = INDENT if cell.text.startswith(INDENT) else ""
    below = f"{inside}{'' if other.text == named.strip() else named}{other.text}"
    lines = (below.replace(" ", numbers.NO_BREAK),) if other.text else ()
    return replace(cell, lines=(*cell.lines, *lines))


def verdict_cells(estimate: Estimate) -> tuple[Cell, Cell]:
    """The verdict in short, and its p apart."""
    said = estimate.verdict or numbers.short(estimate)
    short, mark, rest = said.partition(":")
    detail = (rest.strip(),) if mark and len(rest) <= SHORT else ()
    p = estimate.p_adjusted
    shown = "" if not said or p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
    return text(short, *detail), number(shown)


def by_slice(shape: Shape, results: Sequence[Result], metric: Metric) -> tuple[Table, ...]:
    """The leading metric of several models: a row per slice, a column per model."""
    slices = dict.fromkeys(
        tuple(estimate.slice.items())
        for estimate in results[0].estimates
        if estimate.slice and shape.headline_slice(estimate.slice) and estimate.name == metric.name
        if not shape.principal or not shape.first_slice(estimate.slice)
    )
    if len(results) < 2 or not slices:
        return ()
    columns = [text(system_name(result), spare=at) for at, result in enumerate(results)]
    rows = [
        (
            text(numbers.slice_name(dict(slice_))),
            *(_marked(each, slice_, metric) for each in results),
        )
        for slice_ in slices
    ]
    foot = f"{BEYOND} beyond noise." * any(BEYOND in cell.text for row in rows for cell in row)
    title = text(numbers.headed(metric.label, metric.ideal))
    wide = Table((title, *columns), tuple(rows), foot=foot)
    lean = tuple(tuple(cell.stacked for cell in row) for row in rows)
    return (replace(wide, narrow=replace(wide, rows=lean, gap=1)),)


def _marked(result: Result, slice_: tuple[tuple[str, str], ...], metric: Metric) -> Cell:
    for estimate in result.estimates:
        if estimate.name == metric.name and tuple(estimate.slice.items()) == slice_:
            mark = f"{BEYOND} " if estimate.beyond_noise else ""
            return number(mark + numbers.with_interval(estimate, metric.digits))
    return number("")


def used_cell(estimate: Estimate) -> Cell:
    return number(f"{estimate.n} / {estimate.asked}")


def value_cell(estimate: Estimate | None, digits: int = 1, ties: bool = False) -> Cell:
    """Value and interval, or that there is none; under it the published value, and with `ties`
    these and what missing answers leave possible."""
    if estimate is None:
        return number("")
    printed = published_lines(estimate, digits)
    shown = numbers.with_interval(estimate, digits)
    if estimate.value is not None and printed:
        interval = shown.partition(" ")[2]
        shown = f"{estimate.value:.{digits + 1}f} {interval}".strip()
    tied = numbers.ties(estimate) if ties and estimate.ties else ()
    missing = numbers.missing(estimate) if ties and estimate.missing else ()
    lines = printed if estimate.value is not None else ()
    return number(shown, *lines, *tied, *missing)


def published_lines(estimate: Estimate, digits: int) -> tuple[str, ...]:
    """The published value where there is one, with no digits that were not printed."""
    published = estimate.published
    return (f"published {round(published.value, digits + 1):g}",) if published else ()


def absences(results: Sequence[Result], rows: Sequence[Row], names: Collection[str]) -> list[str]:
    """Why values are missing from a table, and how many items of the results were skipped."""
    reasons = dict.fromkeys(
        estimate.why
        for _, estimates in rows
        for estimate in estimates.values()
        if estimate.value is None and estimate.name in names and estimate.least is None
    )
    lines = [f"No score: {why}." for why in reasons]
    for result in results:
        skipped: dict[str, int] = {}
        for estimate in overall(result).values():
            skipped |= estimate.skipped
        lines += [
            f"{result.model}: {numbers.count(count, 'item')} skipped ({reason})."
            for reason, count in skipped.items()
        ]
    return lines
