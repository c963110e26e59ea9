"""The numbers behind every picture, each with its denominator, interval, ideal and verdict."""

from collections.abc import Iterable, Sequence
from statistics import NormalDist

import numpy as np
from scipy.special import stdtrit

from stereometer.core.shapes.verdicts import NULL_VALUE
from stereometer.core.show import numbers
from stereometer.core.show.slices import named
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.stats.intervals import Floats
from stereometer.core.stats.tests import holm
from stereometer.core.types import Estimate, Slice
from stereometer.report.systems import Group, System

Row = tuple[Cell | str, ...]


OVER = "Over systems: p of the overall row, Holm over all systems of the table; no verdict uses it."


def overall(group: Group, names: Sequence[str], caption: str) -> Table:
    """A row per system, a column per metric, then one per metric that is tested over systems."""
    found = {name: [system.find(name, {}) for system in group.systems] for name in names}
    found = {name: rows for name, rows in found.items() if any(rows)}
    columns, cells = [text("System")], [[system.cell for system in group.systems]]
    for name, rows in found.items():
        ideal = next(numbers.ideal(row) for row in rows if row)
        columns.append(number(group.shape.metric(name).label, f"ideal {ideal}"))
        cells.append([_summary(row, group.digits(name)) for row in rows])
    foot = printed_in(row for rows in found.values() for row in rows if row)
    for name, rows in found.items():
        known = [row.p for row in rows if row and row.p is not None]
        if len(known) > 1:
            ps, label = iter(holm(known)), f"{group.shape.metric(name).label} over systems"
            columns.append(number(label, f"Holm over {len(known)}"))
            tested = (
                numbers.p_value(next(ps)) if row and row.p is not None else "" for row in rows
            )
            cells.append([number(p) for p in tested])
    if len(columns) > len(found) + 1:
        foot = " ".join(filter(None, [foot, OVER]))
    return Table(tuple(columns), tuple(zip(*cells, strict=True)), caption, foot)


def headline(group: Group) -> Table:
    level = numbers.share(group.settings.level)
    return overall(group, group.headline, f"Overall, {level} intervals in brackets")


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

FEWEST = 4
"""Parts below which the variance between them is not known well enough."""
POOLED = (
    "Partly pooled: drawn toward the other slices of its kind by how little it is known (Paule and "
    "Mandel), which errs less where slices are small. No verdict rests on it."
)


def between(values: Floats, errors: Floats) -> float:
    """The variance of the true values of parts (Paule and Mandel 1982): the one at which the
    weighted squares about the weighted mean are what chance gives; 0 where chance alone would
    differ as much."""
    from scipy.optimize import brentq

    def excess(variance: float) -> float:
        weights = 1 / (errors**2 + variance)
        middle = weights @ values / weights.sum()
        return float(weights @ (values - middle) ** 2) - (values.size - 1)

    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, float(values.size * np.ptp(values) ** 2)))


def partly_pooled(values: Floats, errors: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Of at least FEWEST parts: value, low and high, each drawn toward the weighted mean by how
    little it is known. Its variance allows for a mean and a variance between parts that are
    themselves estimated (as in Morris 1983)."""
    count, variance = values.size, between(values, errors)
    weights = 1 / (errors**2 + variance)
    middle = weights @ values / weights.sum()
    shrinkage = errors**2 * weights
    moved = shrinkage * (values - middle)
    spread = np.sqrt(
        errors**2 * (1 - shrinkage) + shrinkage**2 / weights.sum() + 2 / (count - 1) * moved**2
    )
    half = float(stdtrit(count - 1, (1 + level) / 2)) * spread
    return values - moved, values - moved - half, values - moved + half


def pooled_slices(
    placed: Sequence[tuple[System, Estimate]], level: float, digits: int
) -> dict[int, str]:
    """By place: value and interval of those with an ideal of 50, enough of a kind and system."""
    kinds: dict[tuple[str, ...], dict[int, tuple[float, float]]] = {}
    for at, (system, row) in enumerate(placed):
        if row.value is None or row.low is None or row.high is None or not row.slice:
            continue
        end = (1 + level) / 2
        # The standard error that the interval is made of.
        quantile = NormalDist().inv_cdf(end) if row.free is None else float(stdtrit(row.free, end))
        error = (row.high - row.low) / 2 / quantile
        if error and row.ideal == NULL_VALUE:
            kind = kinds.setdefault((system.label, *sorted(row.slice)), {})
            kind[at] = row.value, error
    cells = {}
    for kind in kinds.values():
        if len(kind) >= FEWEST:
            values, errors = np.array(list(kind.values())).T
            drawn = np.stack(partly_pooled(values, errors, level), axis=1).clip(0.0, 100.0)
            for at, (value, low, high) in zip(kind, drawn.tolist(), strict=True):
                cells[at] = f"{numbers.number(value, digits)} {numbers.span(low, high, digits)}"
    return cells
