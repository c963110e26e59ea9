"""What all charts share: the skeleton of a specification and its look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stereometer.report import numbers
from stereometer.report.sections import System
from stereometer.report.words import beyond
from stereometer.types import Estimate

Spec = dict[str, Any]
Row = Mapping[str, Any]

INK, MUTED, LINE, PAPER, IDEAL = (
    "var(--ink)",
    "var(--muted)",
    "var(--line)",
    "var(--paper)",
    "var(--ideal)",
)
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
CONFIG: Spec = {
    "background": "transparent",
    "font": "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
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


def spec(layers: Sequence[Spec], height: int) -> Spec:
    """Layers over each other; the page adds CONFIG and the width."""
    return {
        "$schema": SCHEMA,
        "height": height,
        "padding": 4,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "layer": [one for one in layers if one["data"]["values"]],
    }


def layer(rows: Sequence[Row], mark: Spec, **encoding: Any) -> Spec:
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding}


def plain(field: str) -> Spec:
    """A field whose values are used as they are: a colour, a shape."""
    return {"field": field, "type": "nominal", "scale": None, "legend": None}


def quantity(field: str, domain: tuple[float, float], axis: Spec | None, **scale: Any) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": list(domain), "nice": False, "zero": False, **scale},
        "axis": axis,
    }


def mark_of(system: System, one: Estimate, filled: bool | None = None) -> Spec:
    """Filled where the verdict is beyond noise, hollow where it is not."""
    sure = beyond(one) if filled is None else filled
    colour = system.look.colour
    return {"colour": colour, "fill": colour if sure else PAPER, "shape": system.look.shape}


def tip(system: System, one: Estimate, what: str) -> str:
    lines = [
        f"{system.label}, {what}",
        f"{one.name} {numbers.value(one)} {numbers.interval(one)}".rstrip(),
    ]
    lines += [f"ideal {numbers.ideal(one)}, {numbers.used(one)} used", numbers.verdict(one)]
    return "\n".join([*lines, numbers.adjusted(one)] if one.p_adjusted is not None else lines)


def outwards(values: Sequence[float], step: float, least: float) -> float:
    """The largest distance, rounded up to a step."""
    return max(least, -(-max(values, default=0.0) // step) * step)
