"""A forest of slices: one metric, every system, by what the slices fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.core.show import numbers, slices
from stereometer.core.show.figure import FILLS, Chart, Figure
from stereometer.report import tables
from stereometer.report.charts.forest import Axis, Block, Line, forest
from stereometer.report.systems import Group

MANY = 40
"""With more marks than this the finest slices wait behind the choice."""


def by_slice(
    group: Group, name: str, title: str, lead: tuple[str, ...], axis: Axis, against: str
) -> Figure:
    """`against` says in words what the dashed lines are."""
    kept = group.slices(name)
    if not kept:
        return Figure(f"{group.id}-{name}", title)
    charts = tuple(
        Chart(
            label,
            _described(group, name, chosen, against),
            forest([_block(group, name, rows) for rows in chosen], axis),
        )
        for label, chosen in _choices(slices.groups(kept), len(group.systems))
    )
    table = tables.estimates(group, name, kept, f"{name} by slice")
    chooser = "Slices shown" if len(charts) > 1 else ""
    placed = group.placed(name, kept)
    legend = dict.fromkeys(system.key for system, _ in placed)
    tested = FILLS if any(row.p_adjusted is not None for _, row in placed) else ()
    id_, keys = f"{group.id}-{name}", (*legend, *tested)
    return Figure(id_, title, lead, charts, (table,), chooser, keys)


def _choices(
    every: Sequence[slices.SliceGroup], systems: int
) -> Iterator[tuple[str, list[slices.SliceGroup]]]:
    """All slices, or each kind beside the overall value; a picture too tall for all begins with
    the coarse ones."""
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


def _block(group: Group, name: str, rows: slices.SliceGroup) -> Block:
    digits = group.digits(name)
    lines = [Line(label, group.placed(name, [row]), digits=digits) for label, row in rows.rows]
    return Block(rows.heading, lines)


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
