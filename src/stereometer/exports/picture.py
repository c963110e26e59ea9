"""A small picture of estimates that needs no script: marks with intervals over one axis, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stereometer.report.page import environment
from stereometer.show import numbers
from stereometer.show.figure import fill_of
from stereometer.types import Estimate

PACKAGE = "stereometer.exports"
LEFT, WIDTH = 190, 380
"""Of labels, and of the axis."""
TICKS = 5


@dataclass(frozen=True)
class Axis:
    low: float
    high: float
    width: int = WIDTH

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(LEFT + self.width * min(max(share, 0.0), 1.0), 1)

    @property
    def ticks(self) -> list[float]:
        step = (self.high - self.low) / (TICKS - 1)
        return [self.low + step * number for number in range(TICKS)]


def axis_of(rows: Sequence[Estimate]) -> Axis:
    """Percent where the ideal is 50 or 100; otherwise as far as intervals and ideal reach."""
    if all(row.ideal in (50.0, 100.0) for row in rows):
        return Axis(0, 100)
    ends = [end for row in rows for end in (row.value, row.low, row.high, row.ideal)]
    known = [end for end in ends if end is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    margin = (high - low or 1.0) / 10
    return Axis(low - margin, high + margin)


def picture(title: str, rows: Sequence[tuple[str, Estimate]]) -> str:
    """One row for each estimate under its label, its mark drawn as everywhere (`FILLS`); an ideal
    is drawn where all rows have the same."""
    estimates = [row for _, row in rows]
    first, *others = {row.ideal for row in estimates} or {None}
    return (
        environment(PACKAGE)
        .get_template("picture.svg.j2")
        .render(
            title=title,
            spoken="; ".join(f"{label}: {numbers.spoken(row)}" for label, row in rows),
            axis=axis_of(estimates),
            ideal=None if others else first,
            rows=[(label, row, fill_of(row)) for label, row in rows],
            left=LEFT,
            top=34,
            step=26,
        )
    )
