"""A series of systems, such as the checkpoints of a training run: is there a trend over its steps?

Every item has a slope of its own over the order of the steps, so what makes an item easy or hard
cancels. Items that belong together (those of a target term) are one unit; a t test asks whether the
mean slope of units is zero. Under no trend it rejects as often as it should, whatever the items
have in common over steps (simulated in tests/unit/findings/test_curve.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stereometer.shapes.shape import Shape
from stereometer.stats.families import corrected
from stereometer.stats.intervals import Floats
from stereometer.stats.means import StudentMean
from stereometer.types import Score, Settings

FEWEST_STEPS = 3
NO_TREND, RISES, FALLS = "no trend beyond noise", "rises", "falls"


@dataclass(frozen=True)
class Trend:
    """How one metric moves over the steps."""

    name: str
    change: float
    """From the first to the last step, along the line that fits all."""
    low: float
    high: float
    n: int
    """Items that every system answered."""
    units: int
    """Target terms, or items that stand alone."""
    p: float | None
    p_adjusted: float | None = None
    tests: int | None = None
    verdict: str | None = None
    beyond_noise: bool = False


def trends(scores: Sequence[Iterable[Score]], shape: Shape, settings: Settings) -> list[Trend]:
    """Of every metric that is a mean over items, on the items that all systems answered; the
    systems in the order of their steps."""
    by_item = [shape.units(system, settings.variant) for system in scores]
    common = [
        item
        for item in by_item[0]
        if all(item in each and each[item].skipped is None for each in by_item)
    ]
    if len(by_item) < FEWEST_STEPS or len(common) < 2:
        return []
    rows = [[shape.points(each[item], settings.variant) for each in by_item] for item in common]
    units = [shape.unit(by_item[0][item]) for item in common]
    names = [name for name in rows[0][0] if all(name in step for row in rows for step in row)]
    tested = [_trend(name, rows, units, settings.level) for name in names]
    known = [trend for trend in tested if trend is not None]
    return corrected(known, lambda trend, p: _says(trend, p, settings.level))


def _trend(
    name: str, rows: Sequence[Sequence[Mapping[str, float]]], units: Sequence[str], level: float
) -> Trend | None:
    values = np.array([[step[name] for step in row] for row in rows])
    slopes = changes(values)
    members: dict[str, list[float]] = {}
    for unit, slope in zip(units, slopes, strict=True):
        members.setdefault(unit, []).append(float(slope))
    if len(members) < 2:
        return None
    mean = StudentMean.of(np.array([float(np.mean(each)) for each in members.values()]))
    low, high = mean.interval(level) if mean.has_spread else (mean.value, mean.value)
    p = mean.p() if mean.has_spread else (1.0 if mean.value == 0 else None)
    return Trend(name, mean.value, low, high, len(rows), len(members), p)


def changes(values: Floats) -> Floats:
    """For each row its change from the first to the last column, along the line that fits it."""
    places = np.arange(values.shape[1]) - (values.shape[1] - 1) / 2
    slopes: Floats = values @ places * (values.shape[1] - 1) / float(places @ places)
    return slopes


def _says(trend: Trend, p: float, level: float) -> tuple[str, bool]:
    if p >= 1 - level:
        return NO_TREND, False
    return (RISES if trend.change > 0 else FALLS), True
