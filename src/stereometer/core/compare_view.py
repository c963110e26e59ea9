"""The view of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from stereometer.core import catalog
from stereometer.core.shapes.view import VERDICT, narrowing
from stereometer.core.show import numbers
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import Paragraph, Piece, View, aside, line

if TYPE_CHECKING:
    from stereometer.core.compare import Compared, Comparison
    from stereometer.core.shapes.differences import Difference, Withheld
    from stereometer.core.shapes.shape import Metric, Shape

Slices: TypeAlias = Literal["none", "beyond noise", "every"]
"""Which are listed after the overall and principal rows."""
FEW = 6
"""So many differences that are withheld are listed unasked."""
COMPARED = (
    "Intervals are of one difference at a time. p: adjusted (Holm) in two families per metric, the "
    "overall rows and all slices, across all pairs shown. Could be seen: the smallest true "
    "difference that the test finds with 80 % power after that correction."
)


def comparison(made: Comparison, every_slice: bool | None = None) -> View:
    """In Python, where nothing is said of slices, the overall and principal rows alone."""
    slices: Slices = "beyond noise" if every_slice is False else "every" if every_slice else "none"
    return _comparison(made, slices)


def _comparison(made: Comparison, slices: Slices) -> View:
    systems = f"{len(made.systems)} systems: second minus first, on the items both answered"
    parts: list[Piece | View] = [
        part for found in made.findings.values() for each in found for part in each.pieces()
    ]
    parts += [part for pair in made.pairs for part in pair_pieces(pair, slices, made)]
    parts += [_comparison(other, slices) for other in made.others]
    if not made.others and slices != "none":  # said once, under the last
        parts += aside(COMPARED)
    about = (made.measure, f"variant {made.variant}", systems)
    return View(made.benchmark, about=about, parts=tuple(parts), notes=made.notes)


def pair_pieces(pair: Compared, slices: Slices, made: Comparison) -> Iterator[Piece]:
    """The overall differences and the principal ones, and the slices that are asked for."""
    shape = catalog.shape(made.kind)
    first: list[Difference] = []
    rest: list[Difference] = []
    for row in pair.differences:
        principal = shape.principal and shape.first_slice(row.slice)
        (first if principal or not row.slice else rest).append(row)
    shown = {"every": rest, "beyond noise": [row for row in rest if row.beyond_noise], "none": []}
    more = shown[slices]
    yield line(f": {pair.items} of {pair.asked} items", bold=f"\n{pair.first} -> {pair.second}")
    if first or more:
        yield _differences(shape, first, more)
    yield line(_tested(pair, len(first) + len(more)))
    yield from _withheld(pair.withheld, {"every": None, "beyond noise": FEW, "none": 0}[slices])
    if made.preferences:
        yield line(
            f"{numbers.count(len(pair.flips), 'item')} changed preference: "
            f"{pair.toward_stereotype:,} toward the stereotype, {pair.toward_anti:,} away from it"
            f"{pair.from_ties} (their ids: --json)."
        )


def _tested(pair: Compared, shown: int) -> str:
    """How many rows were tested: few of many beyond noise are what chance gives."""
    rows, beyond = len(pair.differences), sum(row.beyond_noise for row in pair.differences)
    slices = sum(bool(row.slice) for row in pair.differences)
    counted = f"{numbers.count(rows, 'row')} tested, {slices:,} of them in slices"
    listed = f" ({rows - shown:,} more rows: --every-slice)" if rows > shown else ""
    return f"{counted}; {beyond:,} beyond noise{listed}."


def _withheld(rows: Sequence[Withheld], most: int | None) -> Iterator[Paragraph]:
    for row in rows[:most]:
        yield line(f"{numbers.slice_name(row.slice)}: not compared, {row.why}.")
    if more := len(rows[most:]) if most is not None else 0:
        yield line(f"{more} more differences are not compared (--every-slice lists them).")


def _differences(shape: Shape, first: Sequence[Difference], more: Sequence[Difference]) -> Table:
    """In a narrow window intervals stand under values; where that is not enough, the slices go
    before any column does."""
    values = (number(title) for title in ("first", "second", "difference"))
    heads = number("n", spare=2), text("metric"), *values, number("could", "be seen", spare=3)
    columns = (text(""), *heads, *VERDICT)
    both, alone = (
        narrowing(columns, (_difference(row, shape.metric(row.name)) for row in rows))
        for rows in ((*first, *more), first)
    )
    if not (first and more) or both.narrow is None or alone.narrow is None:
        return both
    foot = f"No room for {numbers.count(len(more), 'row')} of slices: a wider window, or --json."
    return replace(both, narrow=replace(both.narrow, narrow=replace(alone.narrow, foot=foot)))


def _difference(row: Difference, metric: Metric) -> tuple[Cell, ...]:
    digits = metric.digits
    change = numbers.signed_interval(row.difference, row.low, row.high, digits)
    verdict = row.verdict
    if row.closer != "neither":
        verdict = f"{verdict}; {row.closer} is closer to {row.ideal:g}"
    ends = (f"{row.first:.{digits}f}", f"{row.second:.{digits}f}")
    values = (*ends, change, numbers.number(row.detectable, digits))
    place = text(numbers.slice_name(row.slice)), number(str(row.n))
    tested = text(verdict), number(numbers.p_words(row.p_adjusted)[2:].removeprefix("= "))
    return (*place, text(metric.label), *map(number, values), *tested)
