"""One metric over the steps of a series, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.report.charts.forest import plain_axis
from stereometer.report.charts.frame import (
    DASHED,
    MUTED,
    TOOLTIP,
    layer,
    mark_of,
    plain,
    points,
    quantity,
    spec,
    tip,
)
from stereometer.report.systems import System
from stereometer.show.figure import Spec
from stereometer.types import Estimate

HEIGHT = 220
MARGIN = 0.03
"""Room beside the first and the last step, as a share of the whole."""


def curve(marks: Sequence[tuple[float, System, Estimate]], label: str, digits: int) -> Spec:
    """Marks are steps with what was measured at them; one without a value is left out."""
    known = [(step, system, row) for step, system, row in marks if row.value is not None]
    axis = plain_axis(label, [row for _, _, row in known])
    steps = [step for step, _, _ in known]
    room = MARGIN * (max(steps) - min(steps) or 1.0)
    across = {"title": "step", "grid": False, "format": "~s", "tickCount": 8}
    up = {"title": label, "grid": True, "tickCount": 5}
    x = quantity("step", (min(steps) - room, max(steps) + room), across)
    y = quantity("value", axis.domain, up)
    rows = [
        {
            "step": step,
            "value": row.value,
            **({"low": row.low, "high": row.high} if row.low is not None else {}),
            **mark_of(system, bool(row.beyond_noise)),
            "tip": tip(system, row, f"step {step:,g}", digits),
        }
        for step, system, row in known
    ]
    spanned = [row for row in rows if "low" in row]
    bar = {"type": "rule", "strokeWidth": 2, "opacity": 0.75}
    ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
    layers = [
        layer([{"value": value} for value in axis.lines], DASHED, y=y),
        layer(rows, {"type": "line", "color": MUTED, "strokeWidth": 1.5}, x=x, y=y),
        layer(spanned, bar, x=x, **ends, color=plain("colour"), tooltip=TOOLTIP),
        points(rows, x, y, size=62, strokeWidth=1.6),
    ]
    return spec(layers, HEIGHT)
