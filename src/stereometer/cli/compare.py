"""compare: systems on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.options import Drawing, Json
from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text

if TYPE_CHECKING:
    from stereometer.findings.compare import Compared, Comparison
    from stereometer.findings.mitigation.judged import Mitigated
    from stereometer.shapes.paired import Difference, Withheld

FEW = 6
"""So many differences that are withheld are listed unasked."""
LEGEND = (
    "Intervals are of one difference at a time. p: adjusted (Holm) in two families per metric, the "
    "overall rows and all slices, across all pairs shown. Could be seen: the smallest true "
    "difference that the test finds with 80 % power after that correction."
)


@command(
    "Look",
    "compare runs/before runs/after",
    "compare runs/before runs/after --control runs/control",
    "compare runs --all-pairs --json",
)
def compare(
    *,
    runs: Annotated[
        list[Path],
        "Folders of runs on the same items, the first the baseline; or a folder that holds them.",
    ],
    control: Annotated[
        Path | None, "The run of a mitigation's control, to judge the mitigation by."
    ] = None,
    all_pairs: Annotated[bool, "Compare every run with every other."] = False,
    every_slice: Annotated[
        bool, "Also list slices whose differences are not beyond noise or not compared."
    ] = False,
    drawing: Drawing,
    json: Json = False,
) -> None:
    """Compare systems, item by item."""
    from stereometer.findings import compare as findings

    comparison = findings.compare(
        *runs, control=control, all_pairs=all_pairs, seed=drawing.seed, resamples=drawing.resamples
    )
    render.document_or(json, comparison, lambda: print_comparison(comparison, every_slice))


def print_comparison(comparison: Comparison, every_slice: bool = False) -> None:
    systems = f"{len(comparison.systems)} systems: second minus first, on the items both answered"
    variant = f"variant {comparison.variant}"
    render.heading(comparison.benchmark, comparison.measure, variant, systems)
    render.notes(comparison.notes)
    for mitigated in comparison.mitigations:
        _print_mitigated(mitigated)
    for pair in comparison.pairs:
        _print_pair(pair, every_slice, comparison)
    for other in comparison.others:
        print_comparison(other, every_slice)
    if not comparison.others:  # said once, under the last
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


def _print_pair(pair: Compared, every_slice: bool, comparison: Comparison) -> None:
    """The overall differences and those beyond noise, and how many are not; or all."""
    items = f": {pair.items} of {pair.asked} items"
    render.line(items, bold=f"\n{pair.first} -> {pair.second}")
    shown = [
        difference
        for difference in pair.differences
        if every_slice or not difference.slice or difference.beyond_noise
    ]
    if shown:
        render.table(_table(shown, comparison.kind))
    render.line(_tested(pair, len(shown)))
    _print_withheld(pair.withheld, None if every_slice else FEW)
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
    listed = f" ({rows - shown:,} rows that are not: --every-slice)" if rows > shown else ""
    return f"{counted}; {beyond:,} beyond noise{listed}."


def _print_withheld(rows: Sequence[Withheld], most: int | None) -> None:
    for withheld in rows[:most]:
        render.line(f"{numbers.slice_name(withheld.slice)}: not compared, {withheld.why}.")
    if more := len(rows[most:]) if most is not None else 0:
        render.line(f"{more} more differences are not compared (--every-slice lists them).")


def _table(differences: Sequence[Difference], kind: str) -> Table:
    from stereometer import catalog

    shape = catalog.shape(kind)
    values = (number(title) for title in ("first", "second", "difference"))
    tested = number("p", spare=1), number("could be seen", spare=3)
    columns = (text(""), text("metric"), number("n", spare=2), *values, *tested, text("verdict"))
    rows = (_cells(row, shape.metric(row.name).digits) for row in differences)
    return Table(columns, tuple(rows))


def _cells(difference: Difference, digits: int) -> tuple[Cell, ...]:
    bounds = difference.low, difference.high
    change = numbers.signed_interval(difference.difference, *bounds, digits)
    verdict = difference.verdict
    if difference.closer != "neither":
        verdict = f"{verdict}; {difference.closer} is closer to {difference.ideal:g}"
    values = (
        str(difference.n),
        f"{difference.first:.{digits}f}",
        f"{difference.second:.{digits}f}",
        change,
        numbers.p_words(difference.p_adjusted),
        f"{difference.detectable:.{digits}f}",
    )
    place = (text(numbers.slice_name(difference.slice)), text(difference.name))
    return (*place, *map(number, values), text(verdict))
