"""How far averages of CATs may be off: over terms, or over items where few terms are held fixed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import sqrt
from typing import Protocol

import numpy as np

from stereometer.shapes.cat.sample import (
    CatSample,
    averages,
    base,
    icat,
    icat_range,
    percent,
    rates,
)
from stereometer.shapes.cat.sides import side_values, sides, smaller
from stereometer.shapes.cat.tally import LMS_OF, SS_OF
from stereometer.shapes.verdicts import LIKE_THESE, NULL_VALUE, SAME, THESE
from stereometer.stats.intervals import (
    Floats,
    generator,
    percentile,
    resampled_means,
    wilson_percent,
)
from stereometer.stats.means import StudentMean
from stereometer.stats.tests import detectable, sign_flip
from stereometer.types import Settings

TESTED = {"ss": SS_OF, "lms": LMS_OF}
Interval = tuple[float, float, str]
"""Low, high, and how they were found."""


class Spread(Protocol):
    """What is known of how far the averages of one slice may be off."""

    scope: str

    def interval(self, name: str, level: float) -> Interval: ...

    def p(self, name: str) -> float:
        """That the average is 50."""
        ...

    def detectable(self, name: str, level: float) -> float: ...


def spread(part: CatSample, settings: Settings) -> Spread:
    return WithinTerms(part, settings) if part.fixed_terms else OverTerms(part)


class OverTerms:
    """Terms stand for others like them: Student's t over terms."""

    scope = LIKE_THESE

    def __init__(self, part: CatSample) -> None:
        self.part, self.point = part, part.point

    @cached_property
    def values(self) -> Mapping[str, Floats]:
        """One value a term; their mean is the average, their spread its spread."""
        part, (lms, ss) = self.part, rates(self.part.outcomes)
        weights = part.n * part.terms / part.n.sum()
        micro = {
            name: self.point[name] + weights * (of - self.point[name])
            for name, of in (("lms_micro", lms), ("ss_micro", ss))
        }
        return {"lms": lms, "ss": ss, "icat_term_mean": icat(lms, ss), **micro}

    def interval(self, name: str, level: float) -> Interval:
        ends = self._icat(name, level) if name in ("icat", "icat_micro") else self._t(name, level)
        if ends is None:
            return (*unanimous(self.part, name, level), "Wilson: all terms agree")
        low, high = map(float, percent(np.array(ends)))
        return low, high, "t over target terms"

    def _t(self, name: str, level: float) -> tuple[float, float] | None:
        mean = StudentMean.of(self.values[name])
        return mean.interval(level) if mean.error > SAME else None

    def _icat(self, name: str, level: float) -> tuple[float, float] | None:
        """The smaller of both sides, each with the spread that lms and ss have together."""
        parts = (self.values[name.replace("icat", of)] for of in ("lms", "ss"))
        means = [StudentMean.of(side) for side in side_values(*parts)]
        if max(mean.error for mean in means) <= SAME:
            return None
        return smaller(mean.interval(level) for mean in means)

    def p(self, name: str) -> float:
        mean = StudentMean.of(self.values[name])
        # Terms that are all alike show no spread, which is not certainty.
        return mean.p(NULL_VALUE) if mean.error > SAME else flipped(self.part, name)

    def detectable(self, name: str, level: float) -> float:
        mean = StudentMean.of(self.values[name])
        return mean.detectable(level) if mean.error > SAME else _of_items(self.part, level)


class WithinTerms:
    """Too few terms to stand for others: they are held fixed, and items are drawn within them."""

    scope = THESE

    def __init__(self, part: CatSample, settings: Settings) -> None:
        self.part, self.point = part, part.point
        rng = generator(settings.seed, part.slice)
        lms, ss = resampled_means(
            part.outcomes, (LMS_OF, SS_OF), settings.resamples, rng, settings.level
        )
        self.draws = averages(100 * lms, 100 * ss, part.n, np.ones(part.terms))

    def interval(self, name: str, level: float) -> Interval:
        low, high = self._drawn(name, level)
        how = "percentile bootstrap over items, no narrower than Wilson; terms held fixed"
        if high - low <= SAME:
            low, high = unanimous(self.part, name, level)
            how = "Wilson: all items agree; terms held fixed"
        elif base(name) != "icat":
            least = _wilson(self.part, name, level)
            low, high = min(low, least[0]), max(high, least[1])
        # With few items draws may all be on one side of the value.
        return min(low, self.point[name]), max(high, self.point[name]), how

    def _drawn(self, name: str, level: float) -> tuple[float, float]:
        if name not in ("icat", "icat_micro"):
            return percentile(self.draws[name], level)
        lms, ss = (self.draws[name.replace("icat", of)] for of in ("lms", "ss"))
        low, high = smaller(percentile(side, level) for side in sides(lms, ss))
        return low, min(100.0, high)

    def p(self, name: str) -> float:
        return flipped(self.part, name)

    def detectable(self, name: str, level: float) -> float:
        error = float(self.draws[name].std())
        return detectable(error, level) if error > SAME else _of_items(self.part, level)


def flipped(part: CatSample, name: str) -> float:
    """p from sign flips of items."""
    return sign_flip([np.repeat(TESTED[name] - 0.5, row) for row in part.outcomes])


def _of_items(part: CatSample, level: float) -> float:
    """What as many independent items would show."""
    return detectable(50 / sqrt(part.coverage.answered), level)


def _wilson(part: CatSample, name: str, level: float) -> tuple[float, float]:
    """As if all items were of one term."""
    return wilson_percent(part.point[name], part.coverage.answered, level)


def unanimous(part: CatSample, name: str, level: float) -> tuple[float, float]:
    """Wilson's interval for ss and lms; for icat the range it takes over both."""
    ss = _wilson(part, "ss", level)
    lms = _wilson(part, "lms", level) if part.has_lms else (0.0, 100.0)
    if base(name) != "icat":
        return ss if base(name) == "ss" else lms
    low, high = icat_range((np.array(lms[0]), np.array(lms[1])), (np.array(ss[0]), np.array(ss[1])))
    return float(low), float(high)
