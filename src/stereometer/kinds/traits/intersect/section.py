"""Where groups meet: profiles of pairs of groups beside those of their parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, pi, sin

from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure, Spec
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.kinds.traits.intersect.shape import domination as domination_of
from stereometer.kinds.traits.intersect.shape import relations
from stereometer.report.charts import frame
from stereometer.report.sections.section import Section
from stereometer.report.systems import Group, System
from stereometer.report.tables import TESTED, Row, tabled, tested

PARTS = {
    "tau_first_part": "first part",
    "tau_second_part": "second part",
    "tau_closer_part": "closer part",
    "tau_reversed": "the other order",
}


class Meeting(Section):
    title = "Where groups meet"
    speaks = False  # there are three questions, and no number answers them all

    def lead(self, group: Group) -> Iterable[str]:
        yield (
            "Profiles of pairs of groups beside those of their parts. A trait emerges where the "
            "pair is beyond both parts. That is a fact about words in templates; whether people "
            "have such a stereotype of the pair is another question."
        )

    def figures(self, group: Group) -> Iterator[Figure]:
        for index, system in enumerate(group.systems):
            yield _domination(group, system, index)
            yield _emergent(group, system, index)


def _domination(group: Group, system: System, index: int) -> Figure:
    rows = [row for row in system.named("dominance") if row.value is not None]
    pairs = [(row.slice["domain"], row.slice["other_domain"]) for row in rows]
    domains = list(dict.fromkeys(name for pair in pairs for name in pair))
    arrows = [arrow for row in rows if (arrow := _arrow(row, group.settings.level))]
    order = "; ".join(
        f"{words} {numbers.both(row, 2)}"
        for name, words in PARTS.items()
        if (row := system.find(name, {}))
    )
    lead = (
        f"{system.label}. Mean tau of a pair's profile with that of its {order}.",
        "An arrow leads from the domain whose part a pair resembles more, by 0.1 or more in tau, "
        "to the one it resembles less; dashed where the difference is within noise after Holm's "
        "correction, or where a domain has too few groups to say.",
    )
    said = "; ".join(arrow.tip for arrow in arrows) or "no domain dominates another"
    described = f"Which domains dominate which for {system.label}: {said}."
    charts = (Chart(system.label, described, domination(domains, arrows)),)
    title = f"Which domain dominates, {system.label}"
    shown = charts if len(domains) > 1 else ()
    listed = relations(system.result), _dominance(rows)
    return Figure(f"{group.id}-domination-{index}", title, lead, shown, listed)


def _dominance(rows: Iterable[Estimate]) -> Table:
    heads = ("Two domains", "#difference of tau", "#interval", "#pairs", *TESTED)
    cells: list[Row] = []
    for row in rows:
        values = numbers.number(row.value, 2), numbers.interval(row, 2), numbers.used(row)
        domains = f"{row.slice['domain']}, {row.slice['other_domain']}"
        cells.append((domains, *values, *tested(row)))
    return tabled(heads, cells, "Dominance between domains")


def _arrow(row: Estimate, level: float) -> Arrow | None:
    """Where one of the two dominates, surely or not."""
    known = domination_of(row, level)
    if known is None:
        return None
    tip = f"{known.winner} over {known.loser} by {numbers.number(abs(row.value or 0), 2)}"
    return Arrow(known.winner, known.loser, known.sure, tip)


def _emergent(group: Group, system: System, index: int) -> Figure:
    heads = ("Pair", "Adjective", "Side", "#beyond both parts by", "#the nearer part", "#p")
    rows: list[Row] = []
    for score in system.scores:
        if score.skipped is None:
            place = (score.slices[name] for name in ("group", "adjective", "direction"))
            size = (numbers.number(v, 3) for v in (score.values["effect"], score.derived["part"]))
            p = (numbers.number(score.derived[name], 4) for name in ("p", "q"))
            rows.append((*place, *size, *p))
    counts = [
        f"{numbers.number(row.value, 0)} of {row.n:,} {row.slice['direction']}"
        for row in system.named("emergent_cells")
        if row.value is not None
    ]
    why = next((row.why for row in system.named("emergent_cells") if row.why), None)
    beyond = f"Beyond noise, with the false-discovery rate held at 0.05: {'; '.join(counts)}."
    lead = (
        "Pairs whose score for an adjective is above the larger, or below the smaller, of its "
        "parts', more than the pair's adjectives are on average. "
        f"{f'There are no verdicts: {why}.' if why else beyond}",
    )
    table = tabled((*heads, "#adjusted"), rows, f"The first of each side, {system.label}")
    title = f"Traits that emerge, {system.label}"
    return Figure(f"{group.id}-emergent-{index}", title, lead, (), (table,))


# ------------------------------------------------------------------------------ arrows in a circle

SIDES = {
    "right": {"align": "left", "dx": 10},
    "left": {"align": "right", "dx": -10},
    "top": {"align": "center", "dy": -14},
    "bottom": {"align": "center", "dy": 16},
}
"""Where a name stands beside its place in the circle."""

Place = tuple[float, float]


@dataclass(frozen=True)
class Arrow:
    """From the domain that dominates to the one it dominates."""

    winner: str
    loser: str
    sure: bool
    tip: str


def domination(domains: Sequence[str], arrows: Sequence[Arrow]) -> Spec:
    """A full arrow where the difference is beyond noise, a dashed one where it is not."""
    angles = {name: 2 * pi * number / len(domains) for number, name in enumerate(domains)}
    places = {name: (cos(angle), sin(angle)) for name, angle in angles.items()}
    x, y = frame.quantity("x", (-1.9, 1.9), None), frame.quantity("y", (-1.25, 1.25), None)
    nodes: list[Spec] = [
        {"x": across, "y": up, "label": name} for name, (across, up) in places.items()
    ]
    lines = [_line(arrow, places[arrow.winner], places[arrow.loser]) for arrow in arrows]
    both = {"x": x, "y": y, "color": frame.plain("colour"), "tooltip": frame.TOOLTIP}
    ends = both | {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    head = {"type": "point", "shape": "triangle-up", "filled": True, "size": 70, "opacity": 1}
    tips = both | {"x": x | {"field": "x2"}, "y": y | {"field": "y2"}}
    tips |= {"angle": {"field": "angle", "type": "quantitative", "scale": None}}
    dot = {"type": "point", "filled": True, "size": 90, "color": frame.LINE, "opacity": 1}
    names = [
        frame.layer(
            [node for node in nodes if _side(node["x"], node["y"]) == side],
            {"type": "text", "color": frame.INK, **look},
            x=x,
            y=y,
            text=frame.words(),
        )
        for side, look in SIDES.items()
    ]
    unsure = {"type": "rule", "strokeDash": [4, 3]}
    layers = [
        frame.layer([line for line in lines if not line["sure"]], unsure, **ends),
        frame.layer(
            [line for line in lines if line["sure"]], {"type": "rule", "strokeWidth": 1.8}, **ends
        ),
        frame.layer(lines, head, **tips),
        frame.layer(nodes, dot, x=x, y=y),
        *names,
    ]
    return frame.spec(layers, 380)


def _line(arrow: Arrow, winner: Place, loser: Place) -> Spec:
    (x, y), (x2, y2) = _towards(winner, loser), _towards(loser, winner)
    ends = {"x": x, "y": y, "x2": x2, "y2": y2, "angle": 90 - degrees(atan2(y2 - y, x2 - x))}
    return ends | {
        "sure": arrow.sure,
        "colour": frame.INK if arrow.sure else frame.MUTED,
        "tip": arrow.tip,
    }


def _side(across: float, up: float) -> str:
    if abs(across) < 0.3:
        return "top" if up > 0 else "bottom"
    return "right" if across > 0 else "left"


def _towards(start: Place, end: Place, gap: float = 0.09) -> Place:
    """A little way from one place towards another."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    size = (dx * dx + dy * dy) ** 0.5 or 1.0
    return start[0] + gap * dx / size, start[1] + gap * dy / size


SECTION = Meeting()
