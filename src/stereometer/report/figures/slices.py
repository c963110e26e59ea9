"""Forests of one metric: of every system by what the slices fix, and of the target terms at either
end of each domain."""

from collections.abc import Iterator, Sequence

from stereometer.core.show import numbers, slices
from stereometer.core.show.figure import FILLS, Chart, Figure
from stereometer.core.types import Estimate
from stereometer.report import tables
from stereometer.report.charts.forest import Axis, AxisOf, Block, Line, forest
from stereometer.report.systems import Group, System

MANY = 40
"""With more marks than this the finest slices wait behind the choice."""


def by_slice(
    group: Group, name: str, title: str, lead: tuple[str, ...], axis: Axis, against: str
) -> Figure:
    """`against` says in words what the dashed lines are."""
    kept = group.slices(name)
    if not kept:
        return Figure(f"{group.id}-{name}", title)
    digits, placed = group.digits(name), group.placed(name, kept)

    def block(rows: slices.SliceGroup) -> Block:
        lines = [Line(label, group.placed(name, [row]), digits=digits) for label, row in rows.rows]
        return Block(rows.heading, lines)

    charts = tuple(
        Chart(label, _described(group, name, chosen, against), forest(map(block, chosen), axis))
        for label, chosen in _choices(slices.groups(kept), len(group.systems))
    )
    table = tables.estimates(group, name, kept, f"{name} by slice")
    chooser = "Slices shown" if len(charts) > 1 else ""
    legend = dict.fromkeys(system.key for system, _ in placed)
    tested = FILLS if any(row.p_adjusted is not None for _, row in placed) else ()
    id_, keys = f"{group.id}-{name}", (*legend, *tested)
    return Figure(id_, title, lead, charts, (table,), chooser, keys)


def _choices(
    every: Sequence[slices.SliceGroup], systems: int
) -> Iterator[tuple[str, list[slices.SliceGroup]]]:
    """All slices, or each kind beside the overall value; if all are many, the coarse first."""
    overall = [group for group in every if not group.fixed]
    kinds = list(dict.fromkeys(group.fixed for group in every if group.fixed))
    single = [slices.fixed_name(kind, many=True) for kind in kinds if len(kind) == 1]
    coarse = [group for group in every if len(group.fixed) < 2]
    short = sum(len(group.rows) for group in every) * systems <= MANY
    if not short and len(coarse) < len(every):
        yield f"overall, {' and '.join(single)}", coarse
    yield "all slices", list(every)
    if len(kinds) > 1:
        for kind in kinds:
            rows = [group for group in every if group.fixed == kind]
            yield f"overall and {slices.fixed_name(kind, many=True)}", overall + rows


def _described(group: Group, name: str, chosen: Sequence[slices.SliceGroup], against: str) -> str:
    rows = numbers.count(sum(len(part.rows) for part in chosen), "slice")
    overall = [
        f"{system.label} {numbers.spoken(estimate, group.digits(name))}"
        for system, estimate in group.placed(name, [{}])
    ]
    said = f" Overall: {'; '.join(overall)}." if overall else ""
    return (
        f"Forest plot of {name} for {numbers.count(len(group.systems), 'system')} in {rows}, "
        f"with intervals{against}.{said} The table below holds every number."
    )


# -------------------------------------------------------------------------------------------- terms

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
    charts = tuple(
        _terms_chart(group, system, rows, axis(name, rows)) for system, rows in by_system
    )
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
    return Figure(f"{group.id}-terms", title, lead, charts, listed, chooser, FILLS, caution)


def ends(group: Group, rows: Sequence[Estimate]) -> tuple[list[Estimate], list[Estimate]]:
    """The terms with the highest values, and those with the lowest that are not among them."""
    known = [row for row in rows if row.value is not None]
    ranked = sorted(known, key=lambda row: (-(row.value or 0), row.slice[group.shape.term_name]))
    return (ranked, []) if len(ranked) <= 2 * ENDS else (ranked[:ENDS], ranked[-ENDS:])


def _terms_chart(group: Group, system: System, rows: Sequence[Estimate], axis: Axis) -> Chart:
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
    heading = f"most of {len(rows)} terms" if least else f"all {numbers.count(len(most), 'term')}"
    for words, shown in ((heading, most), ("least", least)):
        if shown:
            lines = [
                Line(
                    row.slice[group.shape.term_name], [(system, row)], f"n{numbers.NO_BREAK}{row.n}"
                )
                for row in shown
            ]
            yield Block(f"{domain.capitalize()}: {words}", lines)


def _spoken(group: Group, domain: str, rows: Sequence[Estimate]) -> Iterator[str]:
    most, least = ends(group, rows)
    if most:
        low, high = (
            f"{row.slice[group.shape.term_name]} {numbers.value(row, group.digits(group.main))}"
            for row in ((least or most)[-1], most[0])
        )
        yield f"{domain}: from {low} to {high}"
