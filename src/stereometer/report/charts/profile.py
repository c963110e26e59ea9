"""Groups and traits: profiles between two poles, agreement by group, and all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from stereometer.core.show import numbers
from stereometer.core.show.figure import Fill, Key, Spec
from stereometer.report.charts import frame
from stereometer.report.systems import System

ROW = 24
"""Pixels of a trait or group."""
PEOPLE = Key("people", frame.INK, "M-.4,-1.25H.4V1.25H-.4Z")
"""The mark of people: upright, unlike any system's."""


@dataclass(frozen=True)
class Point:
    """A mark with its span on a scale of -1 to 1, in a row."""

    row: int
    value: float
    low: float | None
    high: float | None
    tip: str
    key: Key
    fill: Fill = "pale"


@dataclass(frozen=True)
class TraitAxis:
    left: str
    right: str
    colour: str


def profile(traits: Sequence[TraitAxis], points: Sequence[Sequence[Point]]) -> Spec:
    """Axes from pole to pole, coloured by dimension; a list of points per system, and of people."""
    height = ROW * len(traits) + 12
    x, y = (
        frame.quantity("value", (-1.05, 1.05), None),
        frame.quantity("y", (0, height), None, reverse=True),
    )
    axes = [
        {"y": row * ROW + ROW / 2, "low": -1, "high": 1, **vars(trait)}
        for row, trait in enumerate(traits)
    ]
    line = {"type": "rule", "strokeWidth": 1, "opacity": 0.55}
    pole, colour = {"type": "text", "fontSize": 12}, frame.plain("colour")
    left, right = pole | {"align": "right", "dx": -10}, pole | {"align": "left", "dx": 10}
    low, high = x | {"field": "low"}, {"field": "high"}
    layers = [
        frame.layer(
            [{"value": 0, "y": 0, "end": height}], frame.DASHED, x=x, y=y, y2={"field": "end"}
        ),
        frame.layer(axes, line, x=low, x2=high, y=y, color=colour),
        frame.layer(axes, left, x={"value": 0}, y=y, text=frame.words("left"), color=colour),
        frame.layer(
            axes, right, x={"value": "width"}, y=y, text=frame.words("right"), color=colour
        ),
        *frame.marks_with_spans(_spread(points), x, y),
    ]
    return frame.spec(layers, height)


def _spread(points: Sequence[Sequence[Point]]) -> list[frame.Row]:
    """Systems a little above or below their axis, so that none hides another."""
    step = min(7.0, 14 / max(1, len(points)))
    rows: list[frame.Row] = []
    for number, system in enumerate(points):
        shift = ROW / 2 + (number - (len(points) - 1) / 2) * step
        for point in system:
            span = (
                {}
                if point.low is None or point.high is None
                else {"low": point.low, "high": point.high}
            )
            look = frame.mark(point.key.colour, point.key.shape, point.fill)
            place = {"y": point.row * ROW + shift, "value": point.value, **span}
            rows.append({**place, **look, "tip": point.tip})
    return rows


def taus(
    groups: Sequence[str],
    points: Sequence[Sequence[Point]],
    people: Sequence[tuple[int, float]],
    overall: float | None,
) -> Spec:
    """tau of each group with its interval, a tick at the best that people allow, a line for all."""
    height = ROW * len(groups) + 12
    x = frame.quantity(
        "value", (-1, 1), {"title": "tau", "orient": "top", "tickCount": 9, "grid": True}
    )
    y, end = frame.quantity("y", (0, height), None, reverse=True), {"field": "end"}
    labels = [{"y": row * ROW + ROW / 2, "label": group} for row, group in enumerate(groups)]
    ticks = [
        {"y": row * ROW + 4, "end": (row + 1) * ROW - 4, "value": value}
        | {"tip": f"{groups[row]}: best possible {numbers.number(value, 2)}"}
        for row, value in people
    ]
    zero = [{"value": 0, "y": 0, "end": height}]
    half = [{"value": overall, "y": 0, "end": height}] if overall is not None else []
    label = {"type": "text", "align": "right", "dx": -9, "color": frame.INK}
    tick = {"type": "rule", "color": frame.MUTED, "strokeWidth": 3}
    layers = [
        frame.layer(zero, {"type": "rule", "color": frame.INK, "strokeWidth": 1}, x=x, y=y, y2=end),
        frame.layer(half, frame.DASHED, x=x, y=y, y2=end),
        frame.layer(ticks, tick, x=x, y=y, y2=end, tooltip=frame.TOOLTIP),
        frame.layer(labels, label, x={"value": 0}, y=y, text=frame.words()),
        *frame.marks_with_spans(_spread(points), x, y),
    ]
    return frame.spec(layers, height)


def heat(rows: Sequence[str], columns: Sequence[str], squares: Sequence[frame.Row]) -> Spec:
    """A coloured square for each group and trait: blue towards the left pole, orange towards the
    right. A square has row, column, value and tip."""
    most = max([abs(square["value"]) for square in squares], default=1.0) or 1.0
    axis = {"labelFontSize": 11, "title": None, "domain": False, "ticks": False, "labelLimit": 150}
    top = axis | {"orient": "top", "labelAngle": -45}
    colour = {
        "field": "value",
        "type": "quantitative",
        "legend": {"title": None, "orient": "bottom", "labelColor": frame.MUTED},
        "scale": {"scheme": "blueorange", "domain": [-most, most]},
    }
    square = frame.layer(
        squares,
        {"type": "rect", "stroke": frame.PAPER},
        x=frame.words("column") | {"sort": list(columns), "axis": top},
        y=frame.words("row") | {"sort": list(rows), "axis": axis},
        color=colour,
        tooltip=frame.TOOLTIP,
    )
    return frame.spec([square], 16 * len(rows) + 20)


def point_of(
    system: System, row: int, values: Sequence[float | None], tip: str, fill: Fill
) -> Point:
    """`values` are value, low and high."""
    value, low, high = values
    return Point(row, value or 0.0, low, high, tip, system.key, fill)
