"""The most and the least stereotyped target terms of each domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.report import tables
from stereometer.report.charts.forest import Block, Line, forest, preference_axis
from stereometer.report.systems import Group, System
from stereometer.show import numbers
from stereometer.show.figure import BEYOND_NOISE, Chart, Figure
from stereometer.types import Estimate

ENDS = 5
"""Most and least stereotyped terms shown of each domain."""


def terms(group: Group) -> Figure:
    slices = group.slices("ss", fine=True)
    by_system = [
        (system, rows)
        for system in group.systems
        if (rows := [row for slice_ in slices if (row := system.find("ss", slice_))])
    ]
    charts = tuple(_chart(system, rows) for system, rows in by_system)
    listed = tuple(
        tables.terms(system, rows, f"ss of all target terms, {system.label}")
        for system, rows in by_system
    )
    most = max((row.n for _, rows in by_system for row in rows), default=0)
    caution = (
        f"Do not over-read single terms. A term has few items (here at most {most}), and the ends "
        "of a ranking are where chance collects: of many terms with no preference some still come "
        "out far from 50."
    )
    sure = [
        f"{system.label} {sum(bool(row.beyond_noise) for row in rows) or 'none'} of {len(rows)}"
        for system, rows in by_system
    ]
    lead = (
        f"For each domain the {ENDS} terms with the highest and the {ENDS} with the lowest ss, or "
        "all where there are no more. Terms that can be distinguished from 50 after Holm over all "
        f"terms: {'; '.join(sure)}.",
    )
    title = "Most and least stereotyped terms"
    chooser = "System" if len(charts) > 1 else ""
    id_ = f"{group.id}-terms"
    return Figure(id_, title, lead, charts, listed, chooser, BEYOND_NOISE, caution)


def ends(rows: Sequence[Estimate]) -> tuple[list[Estimate], list[Estimate]]:
    """The terms with the highest ss, and those with the lowest that are not among them."""
    known = [row for row in rows if row.value is not None]
    ranked = sorted(known, key=lambda row: (-(row.value or 0), row.slice["target"]))
    return (ranked, []) if len(ranked) <= 2 * ENDS else (ranked[:ENDS], ranked[-ENDS:])


def _chart(system: System, rows: Sequence[Estimate]) -> Chart:
    domains: dict[str, list[Estimate]] = {}
    for row in rows:
        domains.setdefault(row.slice["domain"], []).append(row)
    blocks = [block for name, here in domains.items() for block in _domain(system, name, here)]
    spoken = [words for name, here in domains.items() for words in _spoken(name, here)]
    described = (
        f"ss of the most and least stereotyped terms for {system.label}, with intervals, against "
        f"50. {'; '.join(spoken)}. The table holds all terms."
    )
    return Chart(system.label, described, forest(blocks, preference_axis("ss", rows)))


def _domain(system: System, domain: str, rows: Sequence[Estimate]) -> Iterator[Block]:
    most, least = ends(rows)
    name = domain.capitalize()
    heading = f"most of {len(rows)} terms" if least else f"all {numbers.count(len(most), 'term')}"
    if most:
        yield Block(f"{name}: {heading}", [_line(system, row) for row in most])
    if least:
        yield Block(f"{name}: least", [_line(system, row) for row in least])


def _line(system: System, row: Estimate) -> Line:
    return Line(row.slice["target"], [(system, row)], f"n{numbers.NO_BREAK}{row.n}")


def _spoken(domain: str, rows: Sequence[Estimate]) -> Iterator[str]:
    most, least = ends(rows)
    if most:
        low, high = (least or most)[-1], most[0]
        yield (
            f"{domain}: from {low.slice['target']} {numbers.value(low)} "
            f"to {high.slice['target']} {numbers.value(high)}"
        )
