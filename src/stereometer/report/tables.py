"""The numbers behind every picture, each with its denominator, interval, ideal and verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import NormalDist

import numpy as np
from scipy.special import stdtrit

from stereometer.core.shapes.verdicts import NULL_VALUE
from stereometer.core.show import numbers
from stereometer.core.show.slices import named
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.types import Estimate, Slice
from stereometer.report.across import over_systems
from stereometer.report.pooled import FEWEST, partly_pooled
from stereometer.report.systems import Group, System

Row = tuple[Cell | str, ...]


def overall(group: Group, names: Sequence[str], caption: str) -> Table:
    """One row per system, one column per metric."""
    present = [name for name in names if any(system.find(name, {}) for system in group.systems)]
    columns = (text("System"), *(_metric(group, name) for name in present))
    rows = tuple(
        (system.cell, *(_summary(system.find(name, {}), group.digits(name)) for name in present))
        for system in group.systems
    )
    shown = (system.find(name, {}) for system in group.systems for name in present)
    table = Table(columns, rows, caption, printed_in(row for row in shown if row))
    return over_systems(group, present, table)


def headline(group: Group) -> Table:
    level = numbers.share(group.settings.level)
    return overall(group, group.headline, f"Overall, {level} intervals in brackets")


def _metric(group: Group, name: str) -> Cell:
    estimate = next(row for system in group.systems if (row := system.find(name, {})))
    return number(group.shape.metric(name).label, f"ideal {numbers.ideal(estimate)}")


def _summary(estimate: Estimate | None, digits: int) -> Cell:
    """A value with all that is needed to read it, in one cell."""
    if estimate is None:
        return number("not measured")
    used = f"{numbers.used(estimate)} used"
    if estimate.value is None:
        return number("no score", estimate.why or "", used)
    tested = f", {numbers.p_value(estimate.p_adjusted)}" if estimate.p_adjusted is not None else ""
    printed = [f"published {published(estimate, digits)}"] if estimate.published else []
    away = numbers.distance(estimate, digits) or "no ideal"
    away += f" {numbers.ideal(estimate)}" if away.endswith(("above", "below")) else ""
    lines = (f"{numbers.verdict(estimate)}{tested}", away, used, *printed)
    return number(numbers.both(estimate, digits), *lines)


def printed_in(rows: Iterable[Estimate]) -> str:
    """Where the published values beside estimates were printed; empty where there are none."""
    sources = dict.fromkeys(row.published.source for row in rows if row.published)
    return f"Published values: {numbers.listed(list(sources))}." if sources else ""


def published(estimate: Estimate, digits: int) -> str:
    return numbers.number(estimate.published.value, digits) if estimate.published else ""


def tabled(heads: Sequence[str], rows: Iterable[Row], caption: str, foot: str = "") -> Table:
    """A table of cells and plain texts; a head that begins with # is of a column of numbers."""
    columns = tuple(Cell(head.removeprefix("#"), head.startswith("#")) for head in heads)
    cells = tuple(
        tuple(
            cell if isinstance(cell, Cell) else Cell(cell, column.numeric)
            for cell, column in zip(row, columns, strict=True)
        )
        for row in rows
    )
    return Table(columns, cells, caption, foot)


TESTED = ("verdict", "p, adjusted")


def tested(row: Estimate) -> tuple[str, str]:
    """The cells under TESTED."""
    return row.why or row.verdict or "", numbers.p_value(row.p_adjusted)


# --------------------------------------------------------------------------- estimates in a list


def estimates(group: Group, name: str, slices: Iterable[Slice], caption: str) -> Table:
    """Every estimate of one metric, a row each."""
    placed = group.placed(name, slices)
    several, digits = len(group.systems) > 1, group.digits(name)
    foot = printed_in(row for _, row in placed)
    optional = ["#terms"] if any(row.terms is not None for _, row in placed) else []
    optional += ["#published"] if foot else []
    drawn = pooled_slices(placed, group.settings.level, digits)
    rows: list[Row] = [
        (
            named(row.slice),
            *([system.cell] if several else []),
            *_fields(row, optional, digits),
            *([drawn.get(at, "")] if drawn else []),
        )
        for at, (system, row) in enumerate(placed)
    ]
    heads = ["Slice", *(["System"] if several else []), *_heads(name), *optional]
    heads += ["#partly pooled"] if drawn else []
    return tabled(heads, rows, caption, " ".join(filter(None, [foot, POOLED if drawn else ""])))


def _heads(name: str) -> list[str]:
    return [f"#{name}", "#interval", "#ideal", "#from ideal", *TESTED, "#used of asked", "#ties"]


def _fields(row: Estimate, optional: Sequence[str], digits: int) -> list[str]:
    """The cells under `_heads`."""
    terms = "" if row.terms is None else str(row.terms)
    more = {"#terms": terms, "#published": published(row, digits)}
    value, interval = numbers.value(row, digits), numbers.interval(row, digits)
    ideal = numbers.ideal(row), numbers.distance(row, digits)
    test = numbers.verdict(row), numbers.adjusted(row)
    counts = numbers.used(row), f"{row.ties:,}"
    return [value, interval, *ideal, *test, *counts, *(more[name] for name in optional)]


def terms(group: Group, name: str, rows: Sequence[Estimate], caption: str) -> Table:
    """Every target term of one system, most stereotyped first within its domain."""
    domain, term, digits = group.shape.domains, group.shape.term_name, group.digits(name)
    ranked = sorted(rows, key=lambda row: (row.slice[domain], row.value is None, -(row.value or 0)))
    cells = [(row.slice[term], row.slice[domain], *_fields(row, (), digits)) for row in ranked]
    return tabled(["Term", "Domain", *_heads(name)], cells, caption)


# ---------------------------------------------------------------------------- partly pooled values

POOLED = (
    "Partly pooled: drawn toward the other slices of its kind by how little it is known (Paule and "
    "Mandel), which errs less where slices are small. No verdict rests on it."
)


def pooled_slices(
    placed: Sequence[tuple[System, Estimate]], level: float, digits: int
) -> dict[int, str]:
    """By place: value and interval of those with an ideal of 50, enough of a kind and system."""
    kinds: dict[tuple[str, ...], list[int]] = {}
    for at, (system, row) in enumerate(placed):
        if row.slice and row.ideal == NULL_VALUE and _error(row, level):
            kinds.setdefault((system.label, *sorted(row.slice)), []).append(at)
    cells = {}
    for places in (each for each in kinds.values() if len(each) >= FEWEST):
        rows = [placed[at][1] for at in places]
        values = np.array([row.value for row in rows], dtype=float)
        errors = np.array([_error(row, level) for row in rows])
        drawn = np.stack(partly_pooled(values, errors, level), axis=1)
        for at, ends in zip(places, drawn, strict=True):
            value, low, high = (min(100.0, max(0.0, float(end))) for end in ends)
            cells[at] = f"{numbers.number(value, digits)} {numbers.span(low, high, digits)}"
    return cells


def _error(row: Estimate, level: float) -> float:
    """The standard error that an interval is made of; 0 where there is none."""
    if row.value is None or row.low is None or row.high is None:
        return 0.0
    end = (1 + level) / 2
    quantile = NormalDist().inv_cdf(end) if row.free is None else float(stdtrit(row.free, end))
    return (row.high - row.low) / 2 / quantile
