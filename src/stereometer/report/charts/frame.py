"""What all charts share: the skeleton of a specification, its look, and marks with intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

from stereometer.core.show import numbers
from stereometer.core.show.figure import Fill, Spec, fill_of
from stereometer.core.types import Estimate
from stereometer.report.systems import System

Row = Mapping[str, Any]

INK, MUTED, LINE, PAPER, IDEAL = (
    f"var(--{name})" for name in ("ink", "muted", "line", "paper", "ideal")
)
FONT = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
CONFIG: Spec = {
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None},
    "aria": False,
    "axis": {
        "labelColor": MUTED,
        "titleColor": INK,
        "titleFontWeight": 500,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridColor": LINE,
        "domainColor": LINE,
        "tickColor": LINE,
        "labelPadding": 5,
        "titlePadding": 8,
    },
    "text": {"color": INK, "fontSize": 12},
}
"""`aria` is off because the box round a chart carries its name and the table beside it the data."""
DASHED: Spec = {"type": "rule", "color": IDEAL, "strokeWidth": 1.5, "strokeDash": [5, 3]}
TOOLTIP = {"field": "tip", "type": "nominal"}


def spec(layers: Sequence[Spec], height: float) -> Spec:
    """Layers over each other; the page adds CONFIG and the width."""
    return {
        "$schema": SCHEMA,
        "height": height,
        "padding": 4,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "layer": [layer for layer in layers if layer["data"]["values"]],
    }


def layer(rows: Sequence[Row], mark: Spec, **encoding: Any) -> Spec:
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding}


def plain(field: str) -> Spec:
    """A field whose values are used unchanged: a colour, a shape."""
    return {"field": field, "type": "nominal", "scale": None, "legend": None}


def words(field: str = "label") -> Spec:
    return {"field": field, "type": "nominal"}


def quantity(field: str, domain: tuple[float, float], axis: Spec | None, **scale: Any) -> Spec:
    limits = {"domain": list(domain), "nice": False, "zero": False, **scale}
    return {"field": field, "type": "quantitative", "scale": limits, "axis": axis}


PALE = 0.3
"""How much of its colour a pale mark has inside."""


def mark_of(system: System, says: Fill | Estimate) -> Spec:
    """The mark of a system, with what an estimate says inside it."""
    return mark(system.look.colour, system.look.shape, says)


def mark(colour: str, shape: str, says: Fill | Estimate) -> Spec:
    fill = fill_of(says) if isinstance(says, Estimate) else says
    inside = PAPER if fill in ("hollow", "dotted") else colour
    look: Spec = {"colour": colour, "fill": inside, "shape": shape}
    look |= {"tint": PALE} if fill == "pale" else {"tint": 1.0}
    return look | ({"dot": True} if fill == "dotted" else {})


def marks_with_spans(rows: Sequence[Row], x: Spec, y: Spec) -> list[Spec]:
    """Points with their intervals across, and `no score` where there is no value."""
    valued = [row for row in rows if "value" in row]
    spanned = [row for row in valued if "low" in row]
    bar = {"type": "rule", "strokeWidth": 2, "opacity": 0.75}
    missing = {"type": "text", "text": "no score", "fontStyle": "italic", "fontSize": 11}
    missing |= {"align": "left", "dx": 4}
    ends = {"x": x | {"field": "low"}, "x2": {"field": "high"}}
    return [
        layer(spanned, bar, **ends, y=y, color=plain("colour"), tooltip=TOOLTIP),
        *points(valued, x, y),
        layer(
            [row for row in rows if "value" not in row],
            missing,
            x={"value": 0},
            y=y,
            color=plain("colour"),
            tooltip=TOOLTIP,
        ),
    ]


def points(rows: Sequence[Row], x: Spec, y: Spec, area: int = 62, **more: Any) -> list[Spec]:
    """Marks, and the dots in those that have one."""
    mark = {"type": "point", "opacity": 1, "size": area, "strokeWidth": 1.6}
    dot = {"type": "point", "opacity": 1, "size": area / 5, "filled": True}
    look = {"stroke": plain("colour"), "fill": plain("fill"), "shape": plain("shape")}
    look |= {"fillOpacity": plain("tint") | {"type": "quantitative"}}
    dotted = [row for row in rows if row.get("dot")]
    return [
        layer(rows, mark, x=x, y=y, **look, **more, tooltip=TOOLTIP),
        layer(dotted, dot, x=x, y=y, color=plain("colour"), tooltip=TOOLTIP),
    ]


def tip(system: System, estimate: Estimate, what: str, digits: int = 1) -> str:
    """What a mark says when pointed at."""
    lines = [
        f"{system.label}, {what}",
        f"{estimate.name} {numbers.both(estimate, digits)}",
        f"ideal {numbers.ideal(estimate)}, {numbers.used(estimate)} used",
        numbers.verdict(estimate),
    ]
    return "\n".join(lines + ([] if estimate.p_adjusted is None else [numbers.adjusted(estimate)]))


def outwards(values: Sequence[float], step: float, least: float) -> float:
    """The largest distance, rounded up to a step."""
    return max(least, -(-max(values, default=0.0) // step) * step)
