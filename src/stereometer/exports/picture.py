"""A small picture of estimates that needs no script: marks with intervals over one axis, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from stereometer.show import numbers
from stereometer.types import Estimate

LEFT, WIDTH, RIGHT, ROW, TOP = 190, 380, 30, 26, 34
INK, MUTED, LINE, IDEAL = "#1f2328", "#59636e", "#d1d9e0", "#9a6700"
TICKS = 5


@dataclass(frozen=True)
class Axis:
    low: float
    high: float

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(LEFT + WIDTH * min(max(share, 0.0), 1.0), 1)

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
    """One row an estimate under its label; a filled mark is beyond noise."""
    axis = axis_of([row for _, row in rows])
    bottom = TOP + ROW * len(rows)
    width, height = LEFT + WIDTH + RIGHT, bottom + 34
    spoken = "; ".join(f"{label}: {numbers.spoken(row)}" for label, row in rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img" '
        f"aria-label={quoteattr(f'{title}. {spoken}')}>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(8, 18, title, INK, "start", 'font-weight="600"'),
        *_grid(axis, bottom),
        *_ideals([row for _, row in rows], axis, bottom),
    ]
    for number, (label, row) in enumerate(rows):
        parts += _row(label, row, axis, TOP + ROW * number + ROW // 2)
    return "\n".join((*parts, "</svg>", ""))


def _text(x: float, y: float, text: str, colour: str, anchor: str, more: str = "") -> str:
    return (
        f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}" {more}>{escape(text)}</text>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, more: str = "") -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" {more}/>'


def _grid(axis: Axis, bottom: int) -> Iterator[str]:
    for tick in axis.ticks:
        x = axis.place(tick)
        yield _line(x, TOP, x, bottom, LINE)
        yield _text(x, bottom + 16, f"{tick:.4g}", MUTED, "middle")


def _ideals(rows: Sequence[Estimate], axis: Axis, bottom: int) -> Iterator[str]:
    """Dashed, where all rows have the same."""
    ideals = {row.ideal for row in rows}
    for ideal in ideals if len(ideals) == 1 else ():
        if ideal is not None:
            x = axis.place(ideal)
            yield _line(x, TOP, x, bottom, IDEAL, 'stroke-width="1.5" stroke-dasharray="5 3"')
            yield _text(x, bottom + 30, f"ideal {ideal:g}", IDEAL, "middle")


def _row(label: str, row: Estimate, axis: Axis, y: int) -> Iterator[str]:
    yield _text(LEFT - 12, y + 4, label, INK, "end")
    if row.value is None:
        yield _text(LEFT + 4, y + 4, f"no score: {row.why}", MUTED, "start", 'font-style="italic"')
        return
    if row.low is not None and row.high is not None:
        ends = axis.place(row.low), axis.place(row.high)
        yield _line(ends[0], y, ends[1], y, INK, 'stroke-width="2" opacity="0.75"')
    fill = INK if row.beyond_noise else "#ffffff"
    mark = f'cx="{axis.place(row.value)}" cy="{y}" r="4.5" fill="{fill}" stroke="{INK}"'
    yield f'<circle {mark} stroke-width="1.6"/>'
