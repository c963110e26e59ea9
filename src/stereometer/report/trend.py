"""A series of systems, such as the checkpoints of a training run: is there a trend over its steps?

Every item has a slope of its own over the order of the steps, so what makes an item easy or hard
cancels. Items that belong together (those of a target term) are one unit; a t test asks whether the
mean slope of units is zero. A checkpoint moves all items at once, which items cannot show: so the
regression on the means of the steps must reject too, and the larger p counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stereometer.core.shapes.shape import Shape
from stereometer.core.stats.intervals import Floats
from stereometer.core.stats.means import StudentMean
from stereometer.core.stats.tests import Said, corrected
from stereometer.core.types import Score, Settings

FEWEST_STEPS = 4
NO_TREND, RISES, FALLS = "no trend beyond noise", "rises", "falls"


@dataclass(frozen=True)
class Trend:
    """How one metric moves over the steps."""

    name: str
    change: float
    """From the first to the last step, along the line that fits all."""
    low: float | None
    high: float | None
    """None where nothing strays from the line, which is not certainty."""
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
    units = [shape.term(by_item[0][item]) for item in common]
    names = [name for name in rows[0][0] if all(name in step for row in rows for step in row)]
    tested = [
        trend_of(name, np.array([[step[name] for step in row] for row in rows]), units, settings)
        for name in names
    ]
    known = [trend for trend in tested if trend is not None]

    def says(trend: Trend, p: float) -> Said:
        if p >= 1 - settings.level:
            return NO_TREND, False
        return (RISES if trend.change > 0 else FALLS), True

    return corrected(known, says)


def trend_of(name: str, values: Floats, units: Sequence[str], settings: Settings) -> Trend | None:
    """From items x steps, and the unit of each item; None where all are one unit."""
    _, at, counts = np.unique(units, return_inverse=True, return_counts=True)
    if len(counts) < 2:
        return None
    by_unit = np.stack([np.bincount(at, step) / counts for step in values.T], axis=1)
    ways = StudentMean.of(changes(by_unit)), line(by_unit.mean(axis=0))
    ends = [way.interval(settings.level) for way in ways]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    spread = [way.has_spread for way in ways]
    p = max(way.p() for way in ways) if all(spread) else None
    known = any(spread)
    span = (low if known else None), (high if known else None)
    return Trend(name, ways[0].value, *span, len(values), len(counts), p)


def line(means: Floats) -> StudentMean:
    """The change along the line through the means of the steps, and how far they stray from it."""
    from scipy.stats import linregress

    fit, steps = linregress(np.arange(means.size), means), means.size
    change, error = (float(each) * (steps - 1) for each in (fit.slope, fit.stderr))
    return StudentMean(change, error, steps - 2)


def changes(values: Floats) -> Floats:
    """For each row its change from the first to the last column, along the line that fits it."""
    places = np.arange(values.shape[1]) - (values.shape[1] - 1) / 2
    slopes: Floats = values @ places * (values.shape[1] - 1) / float(places @ places)
    return slopes
