"""The most and the least stereotyped target terms of each domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.core.show import numbers
from stereometer.core.show.figure import FILLS, Chart, Figure
from stereometer.core.types import Estimate
from stereometer.report import tables
from stereometer.report.charts.forest import Axis, AxisOf, Block, Line, forest
from stereometer.report.systems import Group, System

ENDS = 5
"""Most and least stereotyped terms shown of each domain."""


def terms(group: Group, axis: AxisOf) -> Figure:
    """By the leading metric, on an axis of the section's choice."""
    name = group.main
    slices = group.slices(name, fine=True)
    by_system = [
        (system, rows)
        for system in group.systems
        if (rows := [row for slice_ in slices if (row := system.find(name, slice_))])
    ]
    ideal = next((numbers.ideal(row) for _, rows in by_system for row in rows), "")
    charts = tuple(_chart(group, system, rows, axis(name, rows)) for system, rows in by_system)
    listed = tuple(
        tables.terms(group, name, rows, f"{name} of all target terms, {system.label}")
        for system, rows in by_system
    )
    most = max((row.n for _, rows in by_system for row in rows), default=0)
    caution = (
        f"Do not over-read single terms. A term has few items (here at most {most}), and the ends "
        "of a ranking are where chance collects: of many terms with no preference some still come "
        f"out far from {ideal}."
    )
    sure = [
        f"{system.label} {sum(bool(row.beyond_noise) for row in rows) or 'none'} of {len(rows)}"
        for system, rows in by_system
    ]
    lead = (
        f"For each domain the {ENDS} terms with the highest and the {ENDS} with the lowest "
        f"{name}, or all where there are no more. Beyond noise: {'; '.join(sure)}.",
    )
    title = "Most and least stereotyped terms"
    chooser = "System" if len(charts) > 1 else ""
    id_ = f"{group.id}-terms"
    return Figure(id_, title, lead, charts, listed, chooser, FILLS, caution)


def ends(group: Group, rows: Sequence[Estimate]) -> tuple[list[Estimate], list[Estimate]]:
    """The terms with the highest values, and those with the lowest that are not among them."""
    known = [row for row in rows if row.value is not None]
    ranked = sorted(known, key=lambda row: (-(row.value or 0), row.slice[group.shape.term_name]))
    return (ranked, []) if len(ranked) <= 2 * ENDS else (ranked[:ENDS], ranked[-ENDS:])


def _chart(group: Group, system: System, rows: Sequence[Estimate], axis: Axis) -> Chart:
    domains: dict[str, list[Estimate]] = {}
    for row in rows:
        domains.setdefault(row.slice[group.shape.domains], []).append(row)
    blocks = [
        block for name, here in domains.items() for block in _domain(group, system, name, here)
    ]
    spoken = [words for name, here in domains.items() for words in _spoken(group, name, here)]
    described = (
        f"{group.main} of the most and least stereotyped terms for {system.label}, with intervals, "
        f"against {numbers.ideal(rows[0])}. {'; '.join(spoken)}. The table holds all terms."
    )
    return Chart(system.label, described, forest(blocks, axis))


def _domain(group: Group, system: System, domain: str, rows: Sequence[Estimate]) -> Iterator[Block]:
    most, least = ends(group, rows)
    name = domain.capitalize()
    heading = f"most of {len(rows)} terms" if least else f"all {numbers.count(len(most), 'term')}"
    if most:
        yield Block(f"{name}: {heading}", [_line(group, system, row) for row in most])
    if least:
        yield Block(f"{name}: least", [_line(group, system, row) for row in least])


def _line(group: Group, system: System, row: Estimate) -> Line:
    return Line(row.slice[group.shape.term_name], [(system, row)], f"n{numbers.NO_BREAK}{row.n}")


def _spoken(group: Group, domain: str, rows: Sequence[Estimate]) -> Iterator[str]:
    most, least = ends(group, rows)
    term, digits = group.shape.term_name, group.digits(group.main)
    if most:
        low, high = (least or most)[-1], most[0]
        yield (
            f"{domain}: from {low.slice[term]} {numbers.value(low, digits)} "
            f"to {high.slice[term]} {numbers.value(high, digits)}"
        )
