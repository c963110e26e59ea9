"""lms against ss with the contours of icat: the second figure of Nadeem et al. 2021."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import atan2, degrees, hypot

from stereometer.core.show import numbers
from stereometer.core.show.figure import Spec
from stereometer.core.show.slices import named
from stereometer.core.types import Estimate, Slice
from stereometer.report.charts.frame import (
    DASHED,
    IDEAL,
    INK,
    MUTED,
    PAPER,
    Row,
    layer,
    mark_of,
    outwards,
    plain,
    points,
    quantity,
    spec,
    tip,
    words,
)
from stereometer.report.systems import System

HEIGHT = 340
CONTOURS = range(10, 100, 10)
POINTS = 24
"""Of each arm of a contour."""


@dataclass(frozen=True)
class Place:
    """A system on the plane."""

    system: System
    lms: Estimate
    ss: Estimate

    @property
    def row(self) -> Row:
        """Values and intervals of both; an interval that is missing is a point."""
        where = named(self.ss.slice)
        tips = [tip(self.system, row, where) for row in (self.ss, self.lms)]
        row: Spec = {"label": self.system.label, "tip": "\n".join(tips)}
        for name, estimate in (("lms", self.lms), ("ss", self.ss)):
            row |= {name: estimate.value}
            for part in ("low", "high"):
                bound = getattr(estimate, part)
                row[f"{name}_{part}"] = estimate.value if bound is None else bound
        return row | mark_of(self.system, self.ss)


@dataclass(frozen=True)
class Move:
    """From a system to what was made of it."""

    start: Place
    end: Place
    dashed: bool = False


def places(systems: Sequence[System], slice_: Slice | None = None) -> Iterator[Place]:
    """The systems that have both numbers, overall or in a slice."""
    for system in systems:
        lms, ss = (system.find(name, slice_ or {}) for name in ("lms", "ss"))
        if lms is not None and ss is not None and lms.value is not None and ss.value is not None:
            yield Place(system, lms, ss)


def plane(shown: Sequence[Place], moves: Sequence[Move] = ()) -> Spec:
    rows = [place.row for place in shown]
    left = 100 - outwards([100 - row["lms_low"] for row in rows], 10, 40)
    away = [abs(row[key] - 50) for row in rows for key in ("ss_low", "ss_high")]
    half = min(50.0, outwards(away, 5, 15))
    frame = Frame((left, 101.0), (50 - half, 50 + half))
    tens = list(range(int(left), 101, 10))
    across = {"title": "lms, % (ideal 100)", "grid": False, "values": tens}
    x = quantity("lms", frame.across, across)
    y = quantity("ss", frame.up, {"title": "ss, % (ideal 50)", "grid": False, "tickCount": 7})
    ideal = [{"lms": 100, "ss": 50, "label": "ideal"}]
    ring = {"type": "point", "shape": "circle", "size": 130, "stroke": IDEAL, "fill": PAPER}
    ring |= {"strokeWidth": 2.5, "opacity": 1}
    word = {"type": "text", "align": "right", "dx": -10, "dy": 12, "color": IDEAL}
    layers = [
        layer([{"lms": left, "ss": 50, "end": 100}], DASHED, x=x, x2={"field": "end"}, y=y),
        *_contours(x, y, left, half),
        layer(ideal, ring, x=x, y=y),
        layer(ideal, word | {"fontWeight": 600}, x=x, y=y, text=words()),
        *_arrows(moves, frame, x, y),
        *_systems(rows, x, y),
        *_names(rows, frame, x, y),
    ]
    return spec(layers, HEIGHT)


def contour(icat: float) -> Iterator[tuple[float, float]]:
    """Where lms * min(ss, 100 - ss) / 50 is `icat`: from the right edge to ss = 50 and back."""
    steps = [icat + (100 - icat) * index / POINTS for index in range(POINTS + 1)]
    yield from ((lms, 50 * icat / lms) for lms in reversed(steps))
    yield from ((lms, 100 - 50 * icat / lms) for lms in steps[1:])


def _contours(x: Spec, y: Spec, left: float, half: float) -> list[Spec]:
    rows = [
        {"icat": str(level), "step": step, "lms": lms, "ss": ss}
        for level in CONTOURS
        for step, (lms, ss) in enumerate(contour(level))
    ]
    line = {"type": "line", "color": MUTED, "strokeWidth": 1, "opacity": 0.45, "clip": True}
    # At the tip of a contour, or where it leaves the picture on the left.
    labels = [
        {"lms": lms, "ss": ss, "label": f"icat {level}"}
        for level, lms in ((level, max(level, left)) for level in CONTOURS)
        if (ss := 50 if level == lms else 100 - 50 * level / lms) < 50 + half - 1
    ]
    label = {"type": "text", "color": MUTED, "fontSize": 11, "align": "left", "dx": 4, "dy": -7}
    order = {"field": "step", "type": "quantitative"}
    return [
        layer(rows, line, x=x, y=y, detail=words("icat"), order=order),
        layer(labels, label, x=x, y=y, text=words()),
    ]


def _systems(rows: Sequence[Row], x: Spec, y: Spec) -> list[Spec]:
    bar, colour = {"type": "rule", "strokeWidth": 1.6, "opacity": 0.8}, plain("colour")
    return [
        layer(rows, bar, x=x | {"field": "lms_low"}, x2={"field": "lms_high"}, y=y, color=colour),
        layer(rows, bar, x=x, y=y | {"field": "ss_low"}, y2={"field": "ss_high"}, color=colour),
        *points(rows, x, y, 95),
    ]


# ------------------------------------------------------------------------------------------ arrows

HEAD_AT, SHORTEST = 0.62, 34
"""Where the head of an arrow stands on its way, and the pixels below which there is none."""
HEAD = "M0,-1.3L.75,1L0,.5L-.75,1Z"
"""Longer than wide: a triangle of equal sides would point three ways."""


def _arrows(moves: Sequence[Move], frame: Frame, x: Spec, y: Spec) -> Iterator[Spec]:
    """A line each, and a head on its way that neither mark covers."""
    for move in moves:
        first, last = move.start.row, move.end.row
        row = {"lms": first["lms"], "ss": first["ss"], "lms_to": last["lms"], "ss_to": last["ss"]}
        line: Spec = {"type": "rule", "strokeWidth": 2.2, "color": last["colour"]}
        line |= {"strokeDash": [6, 4]} if move.dashed else {}
        yield layer([row], line, x=x, y=y, x2={"field": "lms_to"}, y2={"field": "ss_to"})
        for size, width in WIDTHS.items():
            yield from _head(first, last, frame, x, y, f"{size}-{len(moves)}", width)


def _head(
    first: Row, last: Row, frame: Frame, x: Spec, y: Spec, name: str, width: float
) -> Iterator[Spec]:
    (left, top), (right, low) = frame.pixel(first, width), frame.pixel(last, width)
    if hypot(right - left, low - top) < SHORTEST:
        return
    at = {key: first[key] + HEAD_AT * (last[key] - first[key]) for key in ("lms", "ss")}
    turned = degrees(atan2(low - top, right - left)) + 90
    mark = {"type": "point", "shape": HEAD, "size": 150, "filled": True, "opacity": 1}
    mark |= {"color": last["colour"], "angle": round(turned, 1)}
    yield layer([at], mark, x=x, y=y) | {"name": f"{name}-{last['label']}-head"}


# ------------------------------------------------------------------------------ names beside marks


@dataclass(frozen=True)
class Frame:
    """The part of the plane that is shown."""

    across: tuple[float, float]
    up: tuple[float, float]

    def pixel(self, row: Row, width: float) -> tuple[float, float]:
        (left, right), (low, high) = self.across, self.up
        down = HEIGHT * (high - row["ss"]) / (high - low)
        return width * (row["lms"] - left) / (right - left), down


WIDTHS = {"wide": 780, "narrow": 270}
"""The page draws the layers named after one of these, by the room it has."""
SIDES = [(side, dy) for dy in (-10, 11, -23, 24, -36, 37) for side in ("left", "right")]
"""Where a name may stand, best first: right of its mark (aligned left) or left; how far down."""

Box = tuple[float, float, float, float]


def _names(rows: Sequence[Row], frame: Frame, x: Spec, y: Spec) -> Iterator[Spec]:
    """Each name twice: a halo that covers the lines behind it, then the name."""
    looks: dict[str, Spec] = {
        "halo": {"stroke": PAPER, "strokeWidth": 4, "strokeJoin": "round"},
        "name": {"color": INK},
    }
    for size, width in WIDTHS.items():
        for number, (row, align, dy) in enumerate(placed(rows, frame, width)):
            mark: Spec = {"type": "text", "fontWeight": 600, "align": align, "dy": dy}
            mark["dx"] = 9 if align == "left" else -9
            for part, look in looks.items():
                name = {"name": f"{size}-{number}-{part}"}
                yield layer([row], mark | look, x=x, y=y, text=words()) | name


def placed(rows: Sequence[Row], frame: Frame, width: float) -> Iterator[tuple[Row, str, int]]:
    """Each name where it first covers no mark or other name; one without a place is left out."""
    marks = [frame.pixel(row, width) for row in rows]
    taken: list[Box] = [(left - 7, top - 7, left + 7, top + 7) for left, top in marks]
    for row, (left, top) in zip(rows, marks, strict=True):
        for align, dy in SIDES:
            start = left + 9 if align == "left" else left - 9 - 7 * len(row["label"])
            box = (start, top + dy - 7, start + 7 * len(row["label"]), top + dy + 7)
            is_free = all(
                box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]
                for other in taken
            )
            if box[0] >= 0 and box[2] <= width and is_free:
                taken.append(box)
                yield row, align, dy
                break


def missing(systems: Sequence[System]) -> Iterator[str]:
    """Why a system is not in the picture."""
    drawn = {place.system.label for place in places(systems)}
    for system in systems:
        if system.label not in drawn:
            rows = [row for name in ("lms", "ss") if (row := system.find(name, {}))]
            whys = dict.fromkeys(row.why or "not measured" for row in rows if row.value is None)
            said = numbers.listed(list(whys)) if whys else "not measured"
            yield f"{system.label} is not in the picture: {said}."
