"""One number of each system against another: lms, ss, the size of the model and of what it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from stereometer.findings.relate import Point
from stereometer.report.charts.frame import IDEAL, PAPER, Row, Spec, layer, plain, quantity, spec
from stereometer.report.sections import System

HEIGHT = 330
SMALLEST, LARGEST = 60, 520
"""Areas of marks in square pixels; a system of unknown size has the smallest."""
TITLES = {
    "lms": "lms, % (ideal 100)",
    "ss": "ss, % (ideal 50)",
    "parameters": "parameters, millions",
    "corpus_gb": "training text, GB",
}
LOGARITHMIC = ("parameters", "corpus_gb")


@dataclass(frozen=True)
class Mark:
    system: System
    point: Point

    def value(self, name: str) -> float | None:
        found: float | None = getattr(self.point, name)
        return found / 1e6 if found is not None and name == "parameters" else found


def scatter(marks: Sequence[Mark], across: str, up: str) -> Spec:
    known = [
        mark for mark in marks if mark.value(across) is not None and mark.value(up) is not None
    ]
    sizes = _areas(known)
    rows = [_row(mark, across, up, sizes[mark.system.label]) for mark in known]
    x, y = _axis("x", across, known), _axis("y", up, known)
    reference = [{"y": 50.0}] if up == "ss" and _domain(up, known)[0] <= 50 else []
    area = {"field": "area", "type": "quantitative", "scale": None, "legend": None}
    point = {"type": "point", "strokeWidth": 2, "opacity": 0.9}
    tooltip = {"field": "tip", "type": "nominal"}
    return spec(
        [
            layer(
                reference,
                {"type": "rule", "color": IDEAL, "strokeWidth": 1.5, "strokeDash": [5, 3]},
                y=y,
            ),
            layer(
                rows,
                point,
                x=x,
                y=y,
                stroke=plain("colour"),
                fill=plain("fill"),
                shape=plain("shape"),
                size=area,
                tooltip=tooltip,
            ),
        ],
        HEIGHT,
    )


def _areas(marks: Sequence[Mark]) -> dict[str, float]:
    """Larger models have larger marks, by the logarithm of their parameters."""
    logs = {
        mark.system.label: log10(mark.point.parameters) for mark in marks if mark.point.parameters
    }
    low, high = min(logs.values(), default=0.0), max(logs.values(), default=0.0)
    share = {
        label: (value - low) / (high - low) if high > low else 0.5 for label, value in logs.items()
    }
    return {
        mark.system.label: SMALLEST + (LARGEST - SMALLEST) * share.get(mark.system.label, 0.0)
        for mark in marks
    }


def _row(mark: Mark, across: str, up: str, area: float) -> Row:
    look, point = mark.system.look, mark.point
    fill = look.colour if point.parameters is not None else PAPER
    return {
        "x": mark.value(across),
        "y": mark.value(up),
        "area": area,
        "colour": look.colour,
        "fill": fill,
        "shape": look.shape,
        "tip": _tip(mark),
    }


def _tip(mark: Mark) -> str:
    point = mark.point
    lines = [mark.system.label, f"lms {point.lms:.1f}, ss {point.ss:.1f}"]
    lines += (
        [f"{point.parameters / 1e6:,.0f} million parameters"]
        if point.parameters is not None
        else ["size not known"]
    )
    lines += [f"{point.corpus_gb:g} GB of training text"] if point.corpus_gb is not None else []
    return "\n".join(lines)


def _axis(field: str, name: str, marks: Sequence[Mark]) -> Spec:
    axis: Spec = {"title": TITLES[name], "grid": field == "y", "tickCount": 6}
    if name not in LOGARITHMIC:
        return quantity(field, _domain(name, marks), axis)
    found = quantity(field, _domain(name, marks), axis | {"format": ",~g"})
    return found | {"scale": {"type": "log", "domain": found["scale"]["domain"], "nice": False}}


def _domain(name: str, marks: Sequence[Mark]) -> tuple[float, float]:
    """Room on both sides: whole fives for percentages, a part of a decade for sizes."""
    values = [value for mark in marks if (value := mark.value(name)) is not None]
    low, high = min(values), max(values)
    if name in LOGARITHMIC:
        return low / 1.6, high * 1.6
    return max(0.0, 5.0 * floor((low - 1) / 5)), min(100.0, 5.0 * ceil((high + 1) / 5))
