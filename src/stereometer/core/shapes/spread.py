"""How far a value may be off, whatever it was counted from, and what missing answers could change.

A model that refuses, is filtered or answers unreadably where a stereotype is at stake leaves out
just the items that would tell; an interval of the answered ones knows nothing of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from stereometer.core.shapes import verdicts
from stereometer.core.shapes.points import LOST, WON
from stereometer.core.stats.means import StudentMean
from stereometer.core.types import Estimate, Settings

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
    """Empty where the value is not tested."""
    detectable: Callable[[float], float | None]
    """By level."""
    free: float | None = None
    scope: str | None = None

    def measured(self, estimate: Estimate, settings: Settings) -> Estimate:
        """With interval and test, and where the ideal is 50, whether it is as good as that."""
        low, high, how = self.interval(settings.level)
        spanned = replace(estimate, low=low, high=high, interval=how)
        if not self.test:
            return spanned
        tested = replace(spanned, p=self.p(), test=self.test, free=self.free)
        known = replace(tested, detectable=self.detectable(settings.level))
        if estimate.ideal != verdicts.NULL_VALUE:
            return known
        near = self.interval(verdicts.narrower(settings.level))
        return replace(known, equivalent=verdicts.equivalent(near[:2], settings))


def over_units(mean: StudentMean, units: str, scope: str = verdicts.LIKE_THESE) -> Spread:
    """Student's t over units that stand for others like them."""
    how = f"t over {units}"
    return Spread(
        mean.value,
        lambda level: (*mean.percent(level), how),
        partial(mean.p, verdicts.NULL_VALUE),
        how,
        mean.detectable,
        mean.free,
        scope,
    )


def determined(
    estimate: Estimate,
    known: Spread,
    tied: float,
    settled: Callable[[int], Spread],
    settings: Settings,
) -> Estimate:
    """With interval and test, unless so large a share is `tied` that the value is open.

    `settled` is the spread with every missing answer, and every tie, lost or won.
    """
    scoped = replace(estimate, scope=known.scope)
    if why := verdicts.undetermined(tied, settings):
        return verdicts.without_score(scoped, why, settings)
    measured = known.measured(scoped, settings)
    if estimate.ideal != verdicts.NULL_VALUE or not estimate.missing:
        return measured
    return _with_missing(measured, settled(LOST), settled(WON), settings)


def _with_missing(estimate: Estimate, lost: Spread, won: Spread, settings: Settings) -> Estimate:
    """With the ends that hold whatever the missing answers are, and where these are too many to be
    left out, with p and equivalence that do."""
    low, high = _between(lost, won, settings.level)
    known = replace(estimate, missing_low=low, missing_high=high)
    if not known.is_doubtful or known.p is None:
        return known
    above = lost.p() if lost.value > verdicts.NULL_VALUE else 1.0
    below = won.p() if won.value < verdicts.NULL_VALUE else 1.0
    near = _between(lost, won, verdicts.narrower(settings.level))
    return replace(known, p=min(above, below), equivalent=verdicts.equivalent(near, settings))


def _between(lost: Spread, won: Spread, level: float) -> tuple[float, float]:
    return lost.interval(level)[0], won.interval(level)[1]
