"""The pictures of groups and traits as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, pi, sin

from stereometer.report.charts.frame import (
    IDEAL,
    INK,
    LINE,
    MUTED,
    PAPER,
    Row,
    Spec,
    layer,
    plain,
    quantity,
    spec,
)

ROW = 24
"""Pixels of a trait or group."""
PEOPLE = "M-.4,-1.25H.4V1.25H-.4Z"
"""The mark of people: upright, unlike any system's."""
SIDES = ("left", "top", "bottom", "right")
DIMENSIONS = (
    "var(--system-0)",
    "var(--system-1)",
    "var(--system-2)",
    "var(--system-3)",
    "var(--system-4)",
)


@dataclass(frozen=True)
class Point:
    """A mark with its span on a scale of -1 to 1."""

    row: int
    value: float
    low: float | None
    high: float | None
    colour: str
    shape: str
    tip: str
    filled: bool = True


def _rows(points: Sequence[Point], step: float, shift: float) -> list[Row]:
    return [
        {"y": point.row * step + shift, "value": point.value, "colour": point.colour, "shape": point.shape, "tip": point.tip,
         "fill": point.colour if point.filled else PAPER, **({"low": point.low, "high": point.high} if point.low is not None else {})}
        for point in points
    ]  # fmt: skip


def _marks(rows: Sequence[Row], x: Spec, y: Spec) -> list[Spec]:
    tooltip = {"field": "tip", "type": "nominal"}
    spans = [row for row in rows if "low" in row]
    bar = {"type": "rule", "strokeWidth": 2, "opacity": 0.7}
    point = {"type": "point", "size": 62, "strokeWidth": 1.6, "opacity": 1}
    return [
        layer(
            spans,
            bar,
            x=x | {"field": "low"},
            x2={"field": "high"},
            y=y,
            color=plain("colour"),
            tooltip=tooltip,
        ),
        layer(
            rows,
            point,
            x=x,
            y=y,
            stroke=plain("colour"),
            fill=plain("fill"),
            shape=plain("shape"),
            tooltip=tooltip,
        ),
    ]


def profile(traits: Sequence[tuple[str, str, str]], points: Sequence[Sequence[Point]]) -> Spec:
    """16 axes from the left pole to the right one, coloured by dimension; one list of points a system (people among them).

    `traits` are left pole, right pole and colour.
    """
    height = ROW * len(traits) + 12
    x = quantity("value", (-1.05, 1.05), None)
    y = quantity("y", (0, height), None, reverse=True)
    axes = [
        {"y": row * ROW + ROW / 2, "low": -1, "high": 1, "colour": colour}
        for row, (_, _, colour) in enumerate(traits)
    ]
    poles = [
        {"y": row * ROW + ROW / 2, "left": left, "right": right, "colour": colour}
        for row, (left, right, colour) in enumerate(traits)
    ]
    middle = [{"value": 0, "y": 0, "end": height}]
    shown = _spread(points)
    words = {"type": "text", "fontSize": 12}
    return spec(
        [
            layer(middle, {"type": "rule", "color": IDEAL, "strokeDash": [5, 3]}, x=x, y=y, y2={"field": "end"}),
            layer(axes, {"type": "rule", "strokeWidth": 1, "opacity": 0.55}, x=x | {"field": "low"}, x2={"field": "high"}, y=y, color=plain("colour")),
            layer(poles, words | {"align": "right", "dx": -10}, x={"value": 0}, y=y, text={"field": "left"}, color=plain("colour")),
            layer(poles, words | {"align": "left", "dx": 10}, x={"value": "width"}, y=y, text={"field": "right"}, color=plain("colour")),
            *_marks(shown, x, y),
        ],
        height,
    )  # fmt: skip


def _spread(points: Sequence[Sequence[Point]]) -> list[Row]:
    """Systems a little above or below their axis, so that none hides another."""
    count = len(points)
    rows: list[Row] = []
    for number, some in enumerate(points):
        rows += _rows(
            some, ROW, ROW / 2 + (number - (count - 1) / 2) * min(7.0, 14 / max(1, count))
        )
    return rows


@dataclass(frozen=True)
class Square:
    row: str
    column: str
    value: float
    tip: str


def heat(rows: Sequence[str], columns: Sequence[str], squares: Sequence[Square]) -> Spec:
    """A coloured square for each group and trait: blue towards the left pole, orange towards the right."""
    most = max([abs(one.value) for one in squares], default=1.0) or 1.0
    values = [
        {"row": one.row, "column": one.column, "value": one.value, "tip": one.tip}
        for one in squares
    ]
    axis = {"labelFontSize": 11, "title": None, "domain": False, "ticks": False, "labelLimit": 150}
    encoding = {
        "x": {"field": "column", "type": "nominal", "sort": list(columns), "axis": axis | {"orient": "top", "labelAngle": -45}},
        "y": {"field": "row", "type": "nominal", "sort": list(rows), "axis": axis},
        "color": {
            "field": "value", "type": "quantitative", "legend": {"title": None, "orient": "bottom", "labelColor": MUTED},
            "scale": {"scheme": "blueorange", "domain": [-most, most]},
        },
        "tooltip": {"field": "tip", "type": "nominal"},
    }  # fmt: skip
    return spec([layer(values, {"type": "rect", "stroke": PAPER}, **encoding)], 16 * len(rows) + 20)


def taus(
    groups: Sequence[str],
    points: Sequence[Sequence[Point]],
    people: Sequence[tuple[int, float]],
    overall: float | None,
) -> Spec:
    """tau of each group with its interval; a tick where people agree with each other, and a line for all groups."""
    height = ROW * len(groups) + 12
    x = quantity("value", (-1, 1), {"title": "tau", "orient": "top", "tickCount": 9, "grid": True})
    y = quantity("y", (0, height), None, reverse=True)
    labels = [{"y": row * ROW + ROW / 2, "label": group} for row, group in enumerate(groups)]
    ticks = [
        {
            "y": row * ROW + 4,
            "end": (row + 1) * ROW - 4,
            "value": value,
            "tip": f"{groups[row]}: people with each other {value:.2f}",
        }
        for row, value in people
    ]
    lines = [{"value": 0, "y": 0, "end": height}]
    half = [{"value": overall, "y": 0, "end": height}] if overall is not None else []
    return spec(
        [
            layer(lines, {"type": "rule", "color": INK, "strokeWidth": 1}, x=x, y=y, y2={"field": "end"}),
            layer(half, {"type": "rule", "color": IDEAL, "strokeWidth": 1.5, "strokeDash": [5, 3]}, x=x, y=y, y2={"field": "end"}),
            layer(ticks, {"type": "rule", "color": MUTED, "strokeWidth": 3}, x=x, y=y, y2={"field": "end"}, tooltip={"field": "tip"}),
            layer(labels, {"type": "text", "align": "right", "dx": -9, "color": INK}, x={"value": 0}, y=y, text={"field": "label"}),
            *_marks(_spread(points), x, y),
        ],
        height,
    )  # fmt: skip


@dataclass(frozen=True)
class Arrow:
    """From the domain that dominates to the one it dominates."""

    winner: str
    loser: str
    sure: bool
    tip: str


def domination(domains: Sequence[str], arrows: Sequence[Arrow]) -> Spec:
    """Domains in a circle; a full arrow where the difference is beyond noise, a dashed one where it is not."""
    at = {
        name: (cos(2 * pi * n / len(domains)), sin(2 * pi * n / len(domains)))
        for n, name in enumerate(domains)
    }
    x, y = quantity("x", (-1.9, 1.9), None), quantity("y", (-1.25, 1.25), None)
    nodes = [{"x": a, "y": b} for a, b in at.values()]
    names = {
        side: [
            {"x": a, "y": b, "label": name} for name, (a, b) in at.items() if _side(a, b) == side
        ]
        for side in SIDES
    }
    lines, heads = [], []
    for arrow in arrows:
        (x1, y1), (x2, y2) = (
            _towards(at[a], at[b])
            for a, b in ((arrow.winner, arrow.loser), (arrow.loser, arrow.winner))
        )
        colour = INK if arrow.sure else MUTED
        lines.append(
            {
                "x": x1,
                "y": y1,
                "x2": x2,
                "y2": y2,
                "colour": colour,
                "dash": [1, 0] if arrow.sure else [4, 3],
                "tip": arrow.tip,
            }
        )
        heads.append(
            {
                "x": x2,
                "y": y2,
                "angle": 90 - degrees(atan2(y2 - y1, x2 - x1)),
                "colour": colour,
                "tip": arrow.tip,
            }
        )
    tooltip = {"field": "tip", "type": "nominal"}
    sure, unsure = (
        [one for one in lines if one["dash"] == [1, 0]],
        [one for one in lines if one["dash"] != [1, 0]],
    )
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    labels = [
        layer(
            names[side],
            {"type": "text", "align": align, "dx": dx, "dy": dy, "color": INK},
            x=x,
            y=y,
            text={"field": "label"},
        )
        for side, align, dx, dy in (
            ("right", "left", 10, 0),
            ("left", "right", -10, 0),
            ("top", "center", 0, -14),
            ("bottom", "center", 0, 16),
        )
    ]
    return spec(
        [
            layer(unsure, {"type": "rule", "strokeDash": [4, 3]}, x=x, y=y, **ends, color=plain("colour"), tooltip=tooltip),
            layer(sure, {"type": "rule", "strokeWidth": 1.8}, x=x, y=y, **ends, color=plain("colour"), tooltip=tooltip),
            layer(heads, {"type": "point", "shape": "triangle-up", "filled": True, "size": 70, "opacity": 1}, x=x, y=y,
                  angle={"field": "angle", "type": "quantitative", "scale": None}, color=plain("colour"), tooltip=tooltip),
            layer(nodes, {"type": "point", "filled": True, "size": 90, "color": LINE, "opacity": 1}, x=x, y=y),
            *labels,
        ],
        380,
    )  # fmt: skip


def _side(a: float, b: float) -> str:
    """Where a name stands beside its place in the circle."""
    if abs(a) < 0.3:
        return "top" if b > 0 else "bottom"
    return "right" if a > 0 else "left"


def _towards(
    one: tuple[float, float], other: tuple[float, float], gap: float = 0.09
) -> tuple[float, float]:
    """A little way from one place towards another."""
    dx, dy = other[0] - one[0], other[1] - one[1]
    size = (dx * dx + dy * dy) ** 0.5 or 1.0
    return one[0] + gap * dx / size, one[1] + gap * dy / size
