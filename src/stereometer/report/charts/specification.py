"""The specification curve: readings from low to high, and under each the choices it is made of."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.report.charts import frame
from stereometer.report.charts.forest import Axis
from stereometer.report.systems import System
from stereometer.show.figure import Spec
from stereometer.types import Estimate

CURVE, STEP, GAP = 220, 19, 14
"""Pixels: of the curve, of a row of the dashboard, and between its choices."""
TICK = 10.0


def specification(
    system: System, readings: Sequence[Estimate], choices: Sequence[str], axis: Axis
) -> Spec:
    """Readings with values, in the order in which they are drawn; `choices` are what differs."""
    low, high = axis.domain
    pixel = (high - low) / CURVE
    labels, dots, depth = _dashboard(readings, choices, low, pixel)
    steps = range(int(-(-low // TICK)), int(high // TICK) + 1)
    ticks = {"title": None, "values": [TICK * step for step in steps], "grid": True}
    x = frame.quantity("place", (0.4, len(readings) + 0.6), None)
    y = frame.quantity("value", (low - depth * pixel, high), ticks)
    rows = [_mark(system, row, place) for place, row in enumerate(readings, 1)]
    ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
    bar = {"type": "rule", "strokeWidth": 2, "opacity": 0.75}
    label = {"type": "text", "align": "right", "dx": -9, "color": frame.INK}
    side = {"type": "text", "align": "left", "dx": 4, "color": frame.MUTED}
    dot: Spec = {"type": "point", "filled": True, "opacity": 1}
    layers = [
        frame.layer([{"value": value} for value in axis.lines], frame.DASHED, y=y),
        frame.layer(_sides(axis, pixel), side, x={"value": 0}, y=y, text=frame.words()),
        frame.layer(rows, bar, x=x, **ends, color=frame.plain("colour"), tooltip=frame.TOOLTIP),
        *frame.points(rows, x, y),
        frame.layer(labels, label, x={"value": 0}, y=y, text=frame.words()),
        frame.layer(
            dots,
            dot,
            x=x,
            y=y,
            size=frame.plain("size") | {"type": "quantitative"},
            color=frame.plain("colour"),
            tooltip=frame.TOOLTIP,
        ),
    ]
    return frame.spec(layers, CURVE + depth)


def _mark(system: System, row: Estimate, place: int) -> frame.Row:
    return {
        "place": place,
        "value": row.value,
        "low": row.low,
        "high": row.high,
        **frame.mark_of(system, row),
        "tip": frame.tip(system, row, row.slice["measure"]),
    }


def _sides(axis: Axis, pixel: float) -> list[frame.Row]:
    """What is measured and what the two ends of the scale mean, inside them."""
    (low, below, _), (high, above, _) = axis.words
    return [
        {"value": high - 8 * pixel, "label": f"{axis.title}: {above.replace('→', '↑')}"},
        {"value": low + 8 * pixel, "label": below.replace("←", "↓")},
    ]


def _dashboard(
    readings: Sequence[Estimate], choices: Sequence[str], low: float, pixel: float
) -> tuple[list[frame.Row], list[frame.Row], int]:
    """Labels and dots, a row for each value of each choice, and how many pixels they take."""
    labels: list[frame.Row] = []
    dots: list[frame.Row] = []
    depth = 0
    for choice in choices:
        depth += GAP
        for value in dict.fromkeys(row.slice.get(choice, "") for row in readings):
            depth += STEP
            at = low - (depth - STEP / 2) * pixel
            labels.append({"value": at, "label": f"{choice}: {value}"})
            for place, row in enumerate(readings, 1):
                chosen = row.slice.get(choice, "") == value
                look = (
                    {"size": 62, "colour": frame.INK}
                    if chosen
                    else {"size": 14, "colour": frame.LINE}
                )
                dots.append({"place": place, "value": at, "tip": row.slice["measure"], **look})
    return labels, dots, depth + GAP
