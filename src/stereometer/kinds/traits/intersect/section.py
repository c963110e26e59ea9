"""Where groups meet: profiles of pairs of groups beside those of their parts."""

from cmath import phase, rect
from collections.abc import Iterable, Iterator, Sequence
from math import degrees, pi

from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure, Spec
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.kinds.traits.intersect.shape import Domination, domination, relations
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
    arrows = [known for row in rows if (known := domination(row, group.settings.level))]
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
    said = "; ".join(map(_tip, arrows)) or "no domain dominates another"
    described = f"Which domains dominate which for {system.label}: {said}."
    charts = (Chart(system.label, described, circle(domains, arrows)),)
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


def _tip(arrow: Domination) -> str:
    return f"{arrow.winner} over {arrow.loser} by {numbers.number(arrow.by, 2)}"


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
GAP = 0.09


def circle(domains: Sequence[str], arrows: Sequence[Domination]) -> Spec:
    """An arrow from each domain that dominates: full where it is surely so, else dashed."""
    turn = 2 * pi / max(1, len(domains))
    places = {name: rect(1, turn * number) for number, name in enumerate(domains)}
    nodes: list[Spec] = [{"x": at.real, "y": at.imag, "label": name} for name, at in places.items()]
    lines = [_line(arrow, places[arrow.winner], places[arrow.loser]) for arrow in arrows]
    sure, unsure = (
        [line for line in lines if line["sure"] == is_sure] for is_sure in (True, False)
    )
    x, y = frame.quantity("x", (-1.9, 1.9), None), frame.quantity("y", (-1.25, 1.25), None)
    both = {"x": x, "y": y, "color": frame.plain("colour"), "tooltip": frame.TOOLTIP}
    ends = both | {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    head = {"type": "point", "shape": "triangle-up", "filled": True, "size": 70, "opacity": 1}
    tips = both | {"x": x | {"field": "x2"}, "y": y | {"field": "y2"}}
    tips |= {"angle": {"field": "angle", "type": "quantitative", "scale": None}}
    dot = {"type": "point", "filled": True, "size": 90, "color": frame.LINE, "opacity": 1}
    layers = [
        frame.layer(unsure, {"type": "rule", "strokeDash": [4, 3]}, **ends),
        frame.layer(sure, {"type": "rule", "strokeWidth": 1.8}, **ends),
        frame.layer(lines, head, **tips),
        frame.layer(nodes, dot, x=x, y=y),
    ]
    name = {"type": "text", "color": frame.INK}
    for side, look in SIDES.items():
        here = [node for node in nodes if _side(node["x"], node["y"]) == side]
        layers.append(frame.layer(here, name | look, x=x, y=y, text=frame.words()))
    return frame.spec(layers, 380)


def _line(arrow: Domination, winner: complex, loser: complex) -> Spec:
    """From place to place, a little apart from both."""
    way = loser - winner
    start, end = winner + GAP * way / abs(way), loser - GAP * way / abs(way)
    ends = {"x": start.real, "y": start.imag, "x2": end.real, "y2": end.imag}
    look = {"sure": arrow.sure, "colour": frame.INK if arrow.sure else frame.MUTED}
    return {**ends, "angle": 90 - degrees(phase(way)), **look, "tip": _tip(arrow)}


def _side(across: float, up: float) -> str:
    if abs(across) < 0.3:
        return "top" if up > 0 else "bottom"
    return "right" if across > 0 else "left"


SECTION = Meeting()
