"""Bars from 0 to 100 percent, each in parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stereometer.report.charts import frame
from stereometer.show import numbers
from stereometer.show.figure import Spec

ROW, THICK = 30, 18
"""Pixels of a row and of its bar."""


def shares(
    parts: Sequence[tuple[str, Mapping[str, float]]], colours: Mapping[str, str], floor: float
) -> Spec:
    """A labelled bar for each entry, with the shares of its parts in percent; a dashed line at the
    floor."""
    height = ROW * len(parts) + 8
    scale = {"title": "answers, %", "orient": "top", "tickCount": 5, "grid": False}
    x, y = (
        frame.quantity("low", (0, 100), scale),
        frame.quantity("top", (0, height), None, reverse=True),
    )
    labels: list[frame.Row] = []
    bars: list[frame.Row] = []
    for number, (label, shared) in enumerate(parts):
        top, low = number * ROW + 10, 0.0
        labels.append({"top": top + THICK / 2, "label": label})
        for part, share in shared.items():
            tip = f"{label}\n{numbers.number(share)} % {part}"
            bar = {"top": top, "end": top + THICK, "low": low, "high": low + share}
            bars.append({**bar, "colour": colours[part], "tip": tip})
            low += share
    ends = {"x": x, "x2": {"field": "high"}, "y": y, "y2": {"field": "end"}}
    rect = {"type": "rect", "stroke": frame.PAPER, "opacity": 1}
    name = {"type": "text", "align": "right", "dx": -9, "color": frame.INK, "limit": 260}
    line = [{"low": floor, "top": 2, "end": height}]
    layers = [
        frame.layer(bars, rect, **ends, color=frame.plain("colour"), tooltip=frame.TOOLTIP),
        frame.layer(labels, name, x={"value": 0}, y=y, text=frame.words()),
        frame.layer(line, frame.DASHED, x=x, y=y, y2={"field": "end"}),
    ]
    return frame.spec(layers, height)
