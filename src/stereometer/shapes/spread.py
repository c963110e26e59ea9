"""How far a value may be off, whatever it was counted from, and what missing answers could change.

A model that refuses, is filtered or answers unreadably where a stereotype is at stake leaves out
just the items that would tell; an interval of the answered ones knows nothing of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from stereometer.shapes.verdicts import NULL_VALUE, equivalent, narrower
from stereometer.types import Estimate, Settings

Interval = tuple[float, float, str]
"""Low, high, and how they were found."""


@dataclass(frozen=True)
class Spread:
    """What is known of how far one value may be off, and the test that it is 50."""

    value: float
    interval: Callable[[float], Interval]
    """By level."""
    p: Callable[[], float]
    test: str
    detectable: Callable[[float], float | None]
    """By level."""
    free: float | None = None
    scope: str | None = None

    def spanned(self, estimate: Estimate, settings: Settings) -> Estimate:
        low, high, how = self.interval(settings.level)
        return replace(estimate, low=low, high=high, interval=how)

    def measured(self, estimate: Estimate, settings: Settings) -> Estimate:
        """With interval and test, and where the ideal is 50, whether it is as good as that."""
        tested = replace(self.spanned(estimate, settings), p=self.p(), test=self.test)
        known = replace(tested, detectable=self.detectable(settings.level), free=self.free)
        if estimate.ideal != NULL_VALUE:
            return known
        near = self.interval(narrower(settings.level))
        return replace(known, equivalent=equivalent(near[:2], settings))


def with_missing(estimate: Estimate, lost: Spread, won: Spread, settings: Settings) -> Estimate:
    """With the ends that hold whatever the missing answers are, and where these are too many to be
    left out, with p and equivalence that do.

    `lost` and `won` are the slice with every missing answer, and every tie, on one side.
    """
    low, high = _between(lost, won, settings.level)
    known = replace(estimate, missing_low=low, missing_high=high)
    if not known.is_doubtful or known.p is None:
        return known
    above = lost.p() if lost.value > NULL_VALUE else 1.0
    below = won.p() if won.value < NULL_VALUE else 1.0
    near = _between(lost, won, narrower(settings.level))
    return replace(known, p=min(above, below), equivalent=equivalent(near, settings))


def _between(lost: Spread, won: Spread, level: float) -> tuple[float, float]:
    return lost.interval(level)[0], won.interval(level)[1]
