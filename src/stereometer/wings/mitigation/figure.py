"""Before and after a mitigation: arrows on the plane of lms and ss, and changes by domain."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stereometer.core.shapes.differences import Closeness
from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure, sure
from stereometer.core.show.slices import named
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.report.charts.forest import Axis, Block, Line, forest
from stereometer.report.charts.frame import outwards
from stereometer.report.charts.plane import Move, places, plane
from stereometer.report.systems import Group, System
from stereometer.wings.mitigation.verdicts import view as show
from stereometer.wings.mitigation.verdicts.judged import Effect, Mitigated

LEAD = (
    "A mitigation is judged by the distance from 50 in its domain: going past 50 is no gain. A "
    "loss of more than one point of lms must be excluded, and the model must be nearer to 50 than "
    "its control, beyond noise. The control is an untargeted change of the same size."
)
CHANGES = "Changes of the distance from 50, with intervals: to the left is nearer."


def mitigation(group: Group, judged: Sequence[Mitigated]) -> Figure:
    """Of systems of the group that are mitigations of others there."""
    lead, tables = [LEAD], list[Table]()
    for each in judged:
        reached = f"{show.headline(each)} ({show.about(each)}). {' '.join(show.reached(each))}"
        lead += [reached, " ".join(show.cost(each))]
        of = f"{each.before} → {each.after}"
        leaks = f"{of}, by whether items have a word of the lists"
        tables.append(replace(show.effects(each), caption=f"{of}, by domain", foot=show.LEGEND))
        tables.append(replace(show.leaks(each), caption=leaks))
    alone = [each.after for each in judged if not each.control]
    return Figure(
        f"{group.id}-mitigation",
        "Before and after mitigation",
        tuple(lead),
        (*_planes(group, judged), _changes(group, judged)),
        tuple(tables),
        legend=group.legend,
        caution=f"No control was measured for {numbers.listed(alone)}." if alone else "",
    )


def _planes(group: Group, judged: Sequence[Mitigated]) -> Iterator[Chart]:
    """One for each targeted domain in which systems have an lms."""
    targeted = (effect.slice for each in judged for effect in each.targeted)
    for slice_ in {tuple(slice_.items()): slice_ for slice_ in targeted}.values():
        there = {place.system.label: place for place in places(group.systems, slice_)}
        moves = [
            Move(there[each.before], there[label], label == each.control)
            for each in judged
            for label in (each.after, each.control)
            if each.before in there and label in there
        ]
        if moves:
            drawn = plane(list(there.values()), moves)
            yield Chart(f"lms and ss, {named(slice_)}", _description(named(slice_), moves), drawn)


def _description(where: str, moves: Sequence[Move]) -> str:
    said = "; ".join(
        f"{move.start.system.label} to {move.end.system.label}"
        f"{' (control, dashed)' if move.dashed else ''}: lms {numbers.number(move.start.lms.value)}"
        f" to {numbers.number(move.end.lms.value)}, ss {numbers.number(move.start.ss.value)} to "
        f"{numbers.number(move.end.ss.value)}"
        for move in moves
    )
    return f"Arrows from before to after on the plane of lms and ss (upwards), {where}. {said}."


def _changes(group: Group, judged: Sequence[Mitigated]) -> Chart:
    systems = {system.label: system for system in group.systems}
    blocks = [
        Block(f"{each.before} → {each.after}", list(_lines(each, systems))) for each in judged
    ]
    rows = [row for block in blocks for line in block.lines for _, row in line.marks]
    bounds = [abs(bound or 0.0) for row in rows for bound in (row.low, row.high)]
    half = outwards(bounds, 2, 4)
    sides = [(-half, "← nearer to 50", "left"), (half, "farther →", "right")]
    axis = Axis("change of the distance from 50, points", (-half, half), [0.0], sides)
    described = f"{CHANGES} {' '.join(map(show.headline, judged))}. The tables hold every number."
    return Chart("Change of the distance from 50", described, forest(blocks, axis))


def _lines(each: Mitigated, systems: dict[str, System]) -> Iterator[Line]:
    for role, effects in (("targeted", each.targeted), ("side effect", each.side_effects)):
        for effect in effects:
            where = named(effect.slice)
            yield _line(where, effect, effect.from_base, systems[each.after], role)
            if each.control and effect.of_control:
                control = systems[each.control]
                yield _line(f"{where}, control", effect, effect.of_control, control, "")


def _line(label: str, effect: Effect, closeness: Closeness, system: System, note: str) -> Line:
    change = closeness.change, closeness.low, closeness.high
    row = Estimate(effect.name, effect.slice, *change, effect.n, effect.asked, 0, None)
    tip = f"{system.label}, {label}\n{numbers.signed_interval(*change)}"
    return Line(label, [(system, row)], note, sure(closeness.closer != "neither"), tip)
