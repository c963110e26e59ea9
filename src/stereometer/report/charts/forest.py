"""Estimates with their intervals, one line each, against the ideal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stereometer.report.charts.frame import (
    IDEAL,
    INK,
    MUTED,
    Row,
    Spec,
    layer,
    mark_of,
    outwards,
    plain,
    quantity,
    spec,
    tip,
)
from stereometer.report.sections import System
from stereometer.shapes.verdicts import LANGUAGE, NULL_VALUE
from stereometer.types import Estimate

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
    sure: bool | None = None
    """Whether the marks are filled; by their verdicts where it is not said."""
    tip: str = ""
    """What a mark says when pointed at; its estimate where it is not said."""


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
    lines: Sequence[float]
    words: Sequence[tuple[float, str, str]]
    """Where, what, and to which side it is aligned."""


def preference_axis(name: str, found: Sequence[Estimate]) -> Axis:
    """Symmetric about 50, because the distance from 50 is what counts."""
    bounds = [
        bound for one in found for bound in (one.value, one.low, one.high) if bound is not None
    ]
    half = min(50.0, outwards([abs(bound - NULL_VALUE) for bound in bounds], 5, 10))
    low, high = NULL_VALUE - half, NULL_VALUE + half
    return Axis(
        f"{name}, %",
        (low, high),
        [NULL_VALUE],
        [(low, "← anti-stereotypes", "left"), (high, "stereotypes →", "right")],
    )


def language_axis(found: Sequence[Estimate]) -> Axis:
    bounds = [bound for one in found for bound in (one.value, one.low) if bound is not None]
    low = 100 - min(100.0, outwards([100 - bound for bound in bounds], 10, 60))
    return Axis(
        "lms, %",
        (low, 100.0),
        [NULL_VALUE, 100.0],
        [(NULL_VALUE, "chance 50", "left"), (100.0, "ideal 100", "right")],
    )


def forest(blocks: Sequence[Block], axis: Axis) -> Spec:
    headings, labels, notes, marks, height = _placed(blocks)
    left = max([9 + CHARACTER * len(row["label"]) for row in labels], default=0)
    x = quantity(
        "value", axis.domain, {"title": axis.title, "orient": "top", "tickCount": 6, "grid": True}
    )
    y = quantity("y", (0, height), None, reverse=True)
    heading = {"type": "text", "align": "left", "dx": -left, "fontWeight": 600, "color": INK}
    layers = [
        *_references(axis, x, y, height),
        layer(headings, heading, x={"value": 0}, y=y, text=_words("label")),
        layer(
            labels,
            {"type": "text", "align": "right", "dx": -9, "color": INK},
            x={"value": 0},
            y=y,
            text=_words("label"),
        ),
        layer(
            notes,
            {"type": "text", "align": "left", "dx": 8, "color": MUTED},
            x={"value": "width"},
            y=y,
            text=_words("label"),
        ),
        *_marks(marks, x, y),
    ]
    return spec(layers, height)


def _words(field: str) -> Spec:
    return {"field": field, "type": "nominal"}


def _placed(blocks: Sequence[Block]) -> tuple[list[Row], list[Row], list[Row], list[Row], int]:
    """Headings, labels, notes and marks with their places from the top in pixels, and the height of all."""
    headings: list[Row] = []
    labels: list[Row] = []
    notes: list[Row] = []
    marks: list[Row] = []
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
                _mark(system, one, line, top + (GAP + STEP) / 2 + index * STEP)
                for index, (system, one) in enumerate(line.marks)
            ]
            top += tall
    return headings, labels, notes, marks, top + GAP


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _mark(system: System, one: Estimate, line: Line, y: float) -> Row:
    told = one.verdict in (LANGUAGE.above, LANGUAGE.below) if one.name.startswith("lms") else None
    sure = told if line.sure is None else line.sure
    where = {
        "y": y,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "tip": line.tip or tip(system, one, line.label),
    }
    return {key: value for key, value in where.items() if value is not None} | mark_of(
        system, one, sure
    )


def _marks(marks: Sequence[Row], x: Spec, y: Spec) -> list[Spec]:
    there = [mark for mark in marks if "value" in mark]
    missing = [mark for mark in marks if "value" not in mark]
    spanned = [mark for mark in there if "low" in mark]
    tooltip = {"field": "tip", "type": "nominal"}
    bar = {"type": "rule", "strokeWidth": 2, "opacity": 0.75}
    point = {"type": "point", "size": 62, "strokeWidth": 1.6, "opacity": 1}
    none = {
        "type": "text",
        "text": "no score",
        "fontStyle": "italic",
        "fontSize": 11,
        "align": "left",
        "dx": 4,
    }
    return [
        layer(
            spanned,
            bar,
            x=x | {"field": "low"},
            x2={"field": "high"},
            y=y,
            color=plain("colour"),
            tooltip=tooltip,
        ),
        layer(
            there,
            point,
            x=x,
            y=y,
            stroke=plain("colour"),
            fill=plain("fill"),
            shape=plain("shape"),
            tooltip=tooltip,
        ),
        layer(missing, none, x={"value": 0}, y=y, color=plain("colour"), tooltip=tooltip),
    ]


def _references(axis: Axis, x: Spec, y: Spec, height: int) -> list[Spec]:
    """Dashed lines, and words over the first row."""
    rows = [{"value": value, "y": TOP - 6, "end": height} for value in axis.lines]
    line = {"type": "rule", "color": IDEAL, "strokeWidth": 1.5, "strokeDash": [5, 3]}
    words = [
        layer(
            [{"value": value, "y": 10, "label": label}],
            {"type": "text", "align": align, "color": MUTED},
            x=x,
            y=y,
            text=_words("label"),
        )
        for value, label, align in axis.words
    ]
    return [layer(rows, line, x=x, y=y, y2={"field": "end"}), *words]
