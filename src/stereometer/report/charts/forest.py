"""Estimates with their intervals, one line each, against the ideal."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from stereometer.core.shapes.verdicts import NULL_VALUE
from stereometer.core.show.figure import Fill, Spec
from stereometer.core.types import Estimate
from stereometer.report.charts import frame
from stereometer.report.systems import System

STEP, GAP, HEADING, TOP = 13, 9, 30, 24
"""Pixels: for a mark, between rows, for a heading, and for the words over the first row."""
CHARACTER = 6.2
"""Pixels a character of a label takes, about."""
LONGEST = 22


@dataclass(frozen=True)
class Line:
    """A labelled row with a mark for each system."""

    label: str
    marks: Sequence[tuple[System, Estimate]]
    note: str = ""
    """Stands at the right edge."""
    fill: Fill | None = None
    """Of the marks; by their verdicts where it is None."""
    tip: str = ""
    """What a mark says when pointed at; about its estimate where it is empty."""
    digits: int = 1


@dataclass(frozen=True)
class Block:
    """Rows under one heading."""

    heading: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Axis:
    """What is measured: where the eye should compare, and what the two sides mean."""

    title: str
    domain: tuple[float, float]
    lines: Sequence[float] = ()
    words: Sequence[tuple[float, str, str]] = ()
    """Where, what, and to which side it is aligned."""


def _bounds(estimates: Iterable[Estimate]) -> list[float]:
    return [
        bound
        for estimate in estimates
        for bound in (estimate.value, estimate.low, estimate.high)
        if bound is not None
    ]


AxisOf = Callable[[str, Sequence[Estimate]], Axis]
"""The axis of a metric, wide enough for estimates of it."""


def preference_axis(name: str, estimates: Iterable[Estimate]) -> Axis:
    """Symmetric about 50, because the distance from 50 is what counts."""
    away = [abs(bound - NULL_VALUE) for bound in _bounds(estimates)]
    half = min(50.0, frame.outwards(away, 5, 10))
    low, high = NULL_VALUE - half, NULL_VALUE + half
    sides = [(low, "← anti-stereotypes", "left"), (high, "stereotypes →", "right")]
    return Axis(f"{name}, %", (low, high), [NULL_VALUE], sides)


def chance_axis(name: str, estimates: Iterable[Estimate]) -> Axis:
    """From chance at 50 to the ideal at 100, and lower where values are."""
    low = 100 - min(100.0, frame.outwards([100 - bound for bound in _bounds(estimates)], 10, 60))
    sides = [(NULL_VALUE, "chance 50", "left"), (100.0, "ideal 100", "right")]
    return Axis(f"{name}, %", (low, 100.0), [NULL_VALUE, 100.0], sides)


def plain_axis(name: str, estimates: Sequence[Estimate]) -> Axis:
    """As wide as the intervals and the ideal need it."""
    ideals = sorted({row.ideal for row in estimates if row.ideal is not None})
    bounds = [*_bounds(estimates), *ideals] or [0.0]
    width = max(bounds) - min(bounds) or abs(bounds[0]) or 1.0
    step = 10.0 ** floor(log10(width / 2))
    low, high = step * floor(min(bounds) / step), step * ceil(max(bounds) / step)
    low, high = (low, high) if low < high else (low - step, high + step)
    middle = (low + high) / 2
    sides = [(ideal, f"ideal {ideal:g}", "left" if ideal < middle else "right") for ideal in ideals]
    return Axis(name, (low, high), ideals, sides)


def forest(blocks: Iterable[Block], axis: Axis) -> Spec:
    headings, labels, notes, marks, height = _placed(blocks)
    left = max([9 + CHARACTER * len(row["label"]) for row in labels], default=0)
    scale = {"title": axis.title, "orient": "top", "tickCount": 6, "grid": True}
    x, y = (
        frame.quantity("value", axis.domain, scale),
        frame.quantity("y", (0, height), None, reverse=True),
    )
    start, end = {"x": {"value": 0}, "y": y}, {"x": {"value": "width"}, "y": y}
    head = {"type": "text", "align": "left", "dx": -left, "fontWeight": 600, "color": frame.INK}
    label = {"type": "text", "align": "right", "dx": -9, "color": frame.INK}
    note = {"type": "text", "align": "left", "dx": 8, "color": frame.MUTED}
    layers = [
        *_references(axis, x, y, height),
        frame.layer(headings, head, **start, text=frame.words()),
        frame.layer(labels, label, **start, text=frame.words()),
        frame.layer(notes, note, **end, text=frame.words()),
        *frame.marks_with_spans(marks, x, y),
    ]
    return frame.spec(layers, height)


Rows = list[frame.Row]


def _placed(blocks: Iterable[Block]) -> tuple[Rows, Rows, Rows, Rows, int]:
    """Headings, labels, notes and marks with their places in pixels, and the height of all."""
    headings: Rows = []
    labels: Rows = []
    notes: Rows = []
    marks: Rows = []
    top = TOP
    for block in blocks:
        if block.heading:
            headings.append({"y": top + HEADING * 0.6, "label": block.heading})
            top += HEADING
        for line in block.lines:
            tall = max(1, len(line.marks)) * STEP + GAP
            labels.append({"y": top + tall / 2, "label": _short(line.label)})
            notes += [{"y": top + tall / 2, "label": line.note}] if line.note else []
            marks += [
                _mark(system, estimate, line, top + (GAP + STEP) / 2 + index * STEP)
                for index, (system, estimate) in enumerate(line.marks)
            ]
            top += tall
    return headings, labels, notes, marks, top + GAP


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _mark(system: System, estimate: Estimate, line: Line, y: float) -> frame.Row:
    place = {"y": y, "value": estimate.value, "low": estimate.low, "high": estimate.high}
    place = {key: value for key, value in place.items() if value is not None}
    text = line.tip or frame.tip(system, estimate, line.label, line.digits)
    return {**place, **frame.mark_of(system, line.fill or estimate), "tip": text}


def _references(axis: Axis, x: Spec, y: Spec, height: int) -> list[Spec]:
    """Dashed lines, and words over the first row."""
    rows = [{"value": value, "y": TOP - 6, "end": height} for value in axis.lines]
    sides = [
        frame.layer(
            [{"value": value, "y": 10, "label": label}],
            {"type": "text", "align": align, "color": frame.MUTED},
            x=x,
            y=y,
            text=frame.words(),
        )
        for value, label, align in axis.words
    ]
    return [frame.layer(rows, frame.DASHED, x=x, y=y, y2={"field": "end"}), *sides]
