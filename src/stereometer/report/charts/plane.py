"""lms against ss with the contours of icat: the second figure of Nadeem et al. 2021."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stereometer.report import numbers
from stereometer.report.charts.frame import (
    IDEAL,
    INK,
    MUTED,
    PAPER,
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
from stereometer.types import Estimate

HEIGHT = 430
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
    def spans(self) -> dict[str, float]:
        """Value and interval of both; an interval that is missing is a point."""
        named = {"lms": self.lms, "ss": self.ss}
        return {
            f"{name}_{part}": _known(one, part)
            for name, one in named.items()
            for part in ("value", "low", "high")
        }


def _known(one: Estimate, part: str) -> float:
    found = getattr(one, part)
    return float(one.value or 0.0) if found is None else float(found)


def places(systems: Sequence[System]) -> Iterator[Place]:
    """The systems that have both numbers."""
    for system in systems:
        lms, ss = system.find("lms", {}), system.find("ss", {})
        if lms is not None and ss is not None and lms.value is not None and ss.value is not None:
            yield Place(system, lms, ss)


def plane(found: Sequence[Place]) -> Spec:
    left = 100 - outwards([100 - one.spans["lms_low"] for one in found], 10, 40)
    half = min(
        50.0,
        outwards(
            [abs(one.spans[key] - 50) for one in found for key in ("ss_low", "ss_high")], 5, 15
        ),
    )
    frame = Frame((left, 101.0), (50 - half, 50 + half))
    x = quantity(
        "lms",
        frame.across,
        {"title": "lms, % (ideal 100)", "grid": False, "values": list(range(int(left), 101, 10))},
    )
    y = quantity("ss", frame.up, {"title": "ss, % (ideal 50)", "grid": False, "tickCount": 7})
    ideal = [{"lms": 100, "ss": 50, "label": "ideal"}]
    ring = {
        "type": "point",
        "shape": "circle",
        "size": 130,
        "stroke": IDEAL,
        "fill": PAPER,
        "strokeWidth": 2.5,
        "opacity": 1,
    }
    word = {
        "type": "text",
        "align": "right",
        "dx": -10,
        "dy": 12,
        "color": IDEAL,
        "fontWeight": 600,
    }
    layers = [
        layer(
            [{"lms": left, "ss": 50, "end": 100}],
            {"type": "rule", "color": IDEAL, "strokeDash": [5, 3]},
            x=x,
            x2={"field": "end"},
            y=y,
        ),
        *_contours(x, y, left, half),
        layer(ideal, ring, x=x, y=y),
        layer(ideal, word, x=x, y=y, text=_words("label")),
        *_systems([_row(one) for one in found], x, y),
        *_names([_row(one) for one in found], frame, x, y),
    ]
    return spec(layers, HEIGHT)


def _words(field: str) -> Spec:
    return {"field": field, "type": "nominal"}


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
    labels = [row for level in CONTOURS if (row := _contour_label(level, left, half)) is not None]
    words = {"type": "text", "color": MUTED, "fontSize": 11, "align": "left", "dx": 4, "dy": -7}
    return [
        layer(
            rows,
            line,
            x=x,
            y=y,
            detail={"field": "icat", "type": "nominal"},
            order={"field": "step", "type": "quantitative"},
        ),
        layer(labels, words, x=x, y=y, text=_words("label")),
    ]


def _contour_label(level: int, left: float, half: float) -> Row | None:
    """At the tip of the contour, or where it leaves the picture on the left."""
    if level >= left:
        return {"lms": level, "ss": 50, "label": f"icat {level}"}
    ss = 100 - 50 * level / left
    return {"lms": left, "ss": ss, "label": f"icat {level}"} if ss < 50 + half - 1 else None


def _row(one: Place) -> Row:
    words = tip(one.system, one.ss, "overall") + "\n" + tip(one.system, one.lms, "overall")
    return {
        **one.spans,
        **mark_of(one.system, one.ss),
        "label": one.system.label,
        "tip": words,
        "lms": one.lms.value,
        "ss": one.ss.value,
    }


def _systems(rows: Sequence[Row], x: Spec, y: Spec) -> list[Spec]:
    bar = {"type": "rule", "strokeWidth": 1.6, "opacity": 0.8}
    colour, tooltip = plain("colour"), {"field": "tip", "type": "nominal"}
    point = {"type": "point", "size": 95, "strokeWidth": 1.8, "opacity": 1}
    return [
        layer(rows, bar, x=x | {"field": "lms_low"}, x2={"field": "lms_high"}, y=y, color=colour),
        layer(rows, bar, x=x, y=y | {"field": "ss_low"}, y2={"field": "ss_high"}, color=colour),
        layer(
            rows,
            point,
            x=x,
            y=y,
            stroke=colour,
            fill=plain("fill"),
            shape=plain("shape"),
            tooltip=tooltip,
        ),
    ]


# ---------------------------------------------------------------------------------- names beside marks


@dataclass(frozen=True)
class Frame:
    """The part of the plane that is shown."""

    across: tuple[float, float]
    up: tuple[float, float]

    def pixel(self, row: Row, width: float) -> tuple[float, float]:
        (left, right), (low, high) = self.across, self.up
        return width * (row["lms"] - left) / (right - left), HEIGHT * (high - row["ss"]) / (
            high - low
        )


WIDTHS = {"wide": 780, "narrow": 270}
"""The page draws the layers named after one of these, by the room it has."""
SIDES = [(side, dy) for dy in (-10, 11, -23, 24, -36, 37) for side in ("left", "right")]
"""Where a name may stand, best first: to the right of its mark (aligned left) or to the left, and how far down."""

Box = tuple[float, float, float, float]


def _names(rows: Sequence[Row], frame: Frame, x: Spec, y: Spec) -> list[Spec]:
    halo = {"stroke": PAPER, "strokeWidth": 4, "strokeJoin": "round"}
    found = []
    for size, width in WIDTHS.items():
        for number, (row, align, dy) in enumerate(placed(rows, frame, width)):
            for mark in (halo, {"color": INK}):
                words = {
                    "type": "text",
                    "fontWeight": 600,
                    "align": align,
                    "dx": 9 if align == "left" else -9,
                    "dy": dy,
                    **mark,
                }
                found.append(
                    layer([row], words, x=x, y=y, text=_words("label"))
                    | {"name": f"{size}-{number}-{'halo' if mark is halo else 'name'}"}
                )
    return found


def placed(rows: Sequence[Row], frame: Frame, width: float) -> Iterator[tuple[Row, str, int]]:
    """Each name at the first place that covers no mark and no other name; a name that has none is left to the legend."""
    marks = [frame.pixel(row, width) for row in rows]
    taken: list[Box] = [(left - 7, top - 7, left + 7, top + 7) for left, top in marks]
    for row, (left, top) in zip(rows, marks, strict=True):
        for align, dy in SIDES:
            start = left + 9 if align == "left" else left - 9 - 7 * len(row["label"])
            box = (start, top + dy - 7, start + 7 * len(row["label"]), top + dy + 7)
            if box[0] >= 0 and box[2] <= width and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield row, align, dy
                break


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def missing(systems: Sequence[System]) -> list[str]:
    """Why a system is not in the picture."""
    drawn = {place.system.label for place in places(systems)}
    found = []
    for system in systems:
        if system.label not in drawn:
            whys = [
                one.why or "not measured"
                for name in ("lms", "ss")
                if (one := system.find(name, {})) is not None and one.value is None
            ]
            found.append(
                f"{system.label} is not in the picture: {numbers.listed(list(dict.fromkeys(whys))) if whys else 'not measured'}."
            )
    return found
