"""One number of each system against another: lms, ss, and the sizes of model and training text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from stereometer.findings.relate import SystemPoint
from stereometer.report.charts.frame import DASHED, Row, layer, mark_of, points, quantity, spec
from stereometer.report.systems import System
from stereometer.show.figure import Spec

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
    point: SystemPoint

    def value(self, name: str) -> float | None:
        value: float | None = getattr(self.point, name)
        return value / 1e6 if value is not None and name == "parameters" else value


def scatter(marks: Sequence[Mark], across: str, up: str) -> Spec:
    known = [
        mark for mark in marks if mark.value(across) is not None and mark.value(up) is not None
    ]
    sizes = _areas(known)
    rows = [_row(mark, across, up, sizes[mark.system.label]) for mark in known]
    x, y = _axis("x", across, known), _axis("y", up, known)
    reference = [{"y": 50.0}] if up == "ss" and _domain(up, known)[0] <= 50 else []
    area = {"field": "area", "type": "quantitative", "scale": None, "legend": None}
    return spec([layer(reference, DASHED, y=y), *points(rows, x, y, size=area)], HEIGHT)


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
    place = {"x": mark.value(across), "y": mark.value(up), "area": area}
    return {**place, **mark_of(mark.system, "pale"), "tip": _tip(mark)}


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
    scale = {"type": "log", "domain": list(_domain(name, marks)), "nice": False}
    return quantity(field, (0, 1), axis | {"format": ",~g"}) | {"scale": scale}


def _domain(name: str, marks: Sequence[Mark]) -> tuple[float, float]:
    """Room on both sides: whole fives for percentages, a part of a decade for sizes."""
    values = [value for mark in marks if (value := mark.value(name)) is not None]
    low, high = min(values), max(values)
    if name in LOGARITHMIC:
        return low / 1.6, high * 1.6
    return max(0.0, 5.0 * floor((low - 1) / 5)), min(100.0, 5.0 * ceil((high + 1) / 5))
