"""compare: systems on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from stereometer.cli import render
from stereometer.shapes.overview import VERDICT, narrowing
from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text

if TYPE_CHECKING:
    from stereometer.findings.compare import Compared, Comparison
    from stereometer.findings.mitigation.judged import Mitigated
    from stereometer.shapes.differences import Difference, Withheld
    from stereometer.shapes.shape import Metric, Shape

Slices: TypeAlias = Literal["none", "beyond noise", "every"]
"""Which are listed after the overall and principal rows."""
FEW = 6
"""So many differences that are withheld are listed unasked."""
LEGEND = (
    "Intervals are of one difference at a time. p: adjusted (Holm) in two families per metric, the "
    "overall rows and all slices, across all pairs shown. Could be seen: the smallest true "
    "difference that the test finds with 80 % power after that correction."
)


def print_comparison(comparison: Comparison, every_slice: bool | None = None) -> None:
    """In Python, where nothing is said of slices, the overall and principal rows alone."""
    slices: Slices = "beyond noise" if every_slice is False else "every" if every_slice else "none"
    _print_comparison(comparison, slices)


def _print_comparison(comparison: Comparison, slices: Slices) -> None:
    systems = f"{len(comparison.systems)} systems: second minus first, on the items both answered"
    variant = f"variant {comparison.variant}"
    render.heading(comparison.benchmark, comparison.measure, variant, systems)
    render.notes(comparison.notes)
    for mitigated in comparison.mitigations:
        _print_mitigated(mitigated)
    for pair in comparison.pairs:
        _print_pair(pair, slices, comparison)
    for other in comparison.others:
        _print_comparison(other, slices)
    if not comparison.others and slices != "none":  # said once, under the last
        render.aside(LEGEND)


def _print_mitigated(judged: Mitigated) -> None:
    """The verdict and what it rests on, before everything that differs."""
    from stereometer.findings.mitigation import show

    render.line(f" · {show.about(judged)}", bold=f"\n{show.headline(judged)}")
    for claim in show.claims(judged):
        render.line(f"  - {claim}")
    render.table(show.effects(judged))
    render.line("\nThe same, by whether items have a word of the lists:")
    render.table(show.leaks(judged))
    render.aside(show.LEGEND)


def _print_pair(pair: Compared, slices: Slices, comparison: Comparison) -> None:
    """The overall differences and the principal ones, and the slices that are asked for."""
    from stereometer import catalog

    shape = catalog.shape(comparison.kind)
    first: list[Difference] = []
    rest: list[Difference] = []
    for row in pair.differences:
        principal = shape.principal and shape.first_slice(row.slice)
        (first if principal or not row.slice else rest).append(row)
    shown = {"every": rest, "beyond noise": [row for row in rest if row.beyond_noise], "none": []}
    more = shown[slices]
    items = f": {pair.items} of {pair.asked} items"
    render.line(items, bold=f"\n{pair.first} -> {pair.second}")
    if first or more:
        render.table(_table(shape, first, more))
    render.line(_tested(pair, len(first) + len(more)))
    _print_withheld(pair.withheld, {"every": None, "beyond noise": FEW, "none": 0}[slices])
    if comparison.preferences:
        render.line(
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


def _print_withheld(rows: Sequence[Withheld], most: int | None) -> None:
    for withheld in rows[:most]:
        render.line(f"{numbers.slice_name(withheld.slice)}: not compared, {withheld.why}.")
    if more := len(rows[most:]) if most is not None else 0:
        render.line(f"{more} more differences are not compared (--every-slice lists them).")


def _table(shape: Shape, first: Sequence[Difference], more: Sequence[Difference]) -> Table:
    """In a narrow window intervals stand under values; where that is not enough, the slices go
    before any column does."""
    values = (number(title) for title in ("first", "second", "difference"))
    heads = number("n", spare=2), text("metric"), *values, number("could", "be seen", spare=3)
    columns = (text(""), *heads, *VERDICT)
    both, alone = (
        narrowing(columns, (_cells(row, shape.metric(row.name)) for row in rows))
        for rows in ((*first, *more), first)
    )
    if not (first and more) or both.narrow is None or alone.narrow is None:
        return both
    foot = f"No room for {numbers.count(len(more), 'row')} of slices: a wider window, or --json."
    return replace(both, narrow=replace(both.narrow, narrow=replace(alone.narrow, foot=foot)))


def _cells(difference: Difference, metric: Metric) -> tuple[Cell, ...]:
    bounds, digits = (difference.low, difference.high), metric.digits
    change = numbers.signed_interval(difference.difference, *bounds, digits)
    verdict = difference.verdict
    if difference.closer != "neither":
        verdict = f"{verdict}; {difference.closer} is closer to {difference.ideal:g}"
    values = (
        f"{difference.first:.{digits}f}",
        f"{difference.second:.{digits}f}",
        change,
        numbers.number(difference.detectable, digits),
    )
    place = text(numbers.slice_name(difference.slice)), number(str(difference.n))
    tested = text(verdict), number(numbers.p_words(difference.p_adjusted)[2:].removeprefix("= "))
    return (*place, text(metric.label), *map(number, values), *tested)
