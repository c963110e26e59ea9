"""One metric over the steps of a series, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.report.charts import frame
from stereometer.report.charts.forest import plain_axis
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
    x = frame.quantity("step", (min(steps) - room, max(steps) + room), across)
    y = frame.quantity("value", axis.domain, up)
    rows = [
        {
            "step": step,
            "value": row.value,
            **({"low": row.low, "high": row.high} if row.low is not None else {}),
            **frame.mark_of(system, row),
            "tip": frame.tip(system, row, f"step {step:,g}", digits),
        }
        for step, system, row in known
    ]
    spanned = [row for row in rows if "low" in row]
    bar = {"type": "rule", "strokeWidth": 2, "opacity": 0.75}
    ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
    layers = [
        frame.layer([{"value": value} for value in axis.lines], frame.DASHED, y=y),
        frame.layer(rows, {"type": "line", "color": frame.MUTED, "strokeWidth": 1.5}, x=x, y=y),
        frame.layer(spanned, bar, x=x, **ends, color=frame.plain("colour"), tooltip=frame.TOOLTIP),
        *frame.points(rows, x, y),
    ]
    return frame.spec(layers, HEIGHT)
