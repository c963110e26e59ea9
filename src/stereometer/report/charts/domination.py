"""Which domain dominates which, as arrows in a circle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, pi, sin

from stereometer.report.charts import frame
from stereometer.show.figure import Spec

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
