"""How far averages of CATs may be off: over terms, or over items where few terms are held fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from math import sqrt

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
from stereometer.shapes.spread import Interval, Spread, over_units
from stereometer.shapes.verdicts import FEW_TERMS, LIKE_THESE, NULL_VALUE, SAME, THESE
from stereometer.stats.intervals import (
    Floats,
    generator,
    percentile,
    resampled_means,
    wilson_percent,
)
from stereometer.stats.means import StudentMean, StudentShare, effective
from stereometer.stats.tests import detectable, sign_flip
from stereometer.types import Settings

TESTED = {"ss": SS_OF, "lms": LMS_OF}


class Spreads:
    """Of every average of a sample: over terms, or where too few of them count, within them."""

    def __init__(self, part: CatSample, settings: Settings) -> None:
        self.part, self.settings = part, settings

    @cached_property
    def within_terms(self) -> WithinTerms:
        return WithinTerms(self.part, self.settings)

    def of(self, name: str) -> Spread:
        weights = self.part.weights if name.endswith("_micro") else None
        terms = self.part.terms if weights is None else effective(weights)
        return (self.within_terms if terms < FEW_TERMS else OverTerms(self.part, weights)).of(name)

    def settled(self, name: str, at: int) -> Spread:
        return Spreads(self.part.settled(at), self.settings).of(name)


class OverTerms:
    """Terms stand for others like them: Student's t over terms, which weigh alike, or as many items
    as they have."""

    def __init__(self, part: CatSample, weights: Floats | None = None) -> None:
        self.part, self.weights = part, weights

    @cached_property
    def values(self) -> Mapping[str, Floats]:
        """One value per term."""
        lms, ss = rates(self.part.outcomes)
        return {"lms": lms, "ss": ss, "icat_term_mean": icat(lms, ss)}

    def of(self, name: str) -> Spread:
        agreed, test = "terms agree", "sign flips of items: all terms agree"
        of_items = _of_items(self.part, name, agreed, test, LIKE_THESE)
        if name in ("icat", "icat_micro"):
            return self._icat(of_items)
        mean = StudentMean.of(self.values[name.removesuffix("_micro")], self.weights)
        # Terms that are all alike show no spread, which is not certainty.
        known = over_units(mean, "target terms") if mean.error > SAME else of_items
        if base(name) == "lms":
            share = StudentShare(mean, int(self.part.n.sum()))
            known = replace(
                known,
                interval=lambda level: (*share.interval(level), "Wilson over target terms"),
                p=partial(share.p, NULL_VALUE),
                test="score test over target terms",
            )
        return known if name in TESTED else replace(known, test="")

    def _icat(self, of_items: Spread) -> Spread:
        """The smaller of both sides, each with the spread that lms and ss have together."""
        sides = side_values(self.values["lms"], self.values["ss"], self.weights)
        means = [StudentMean.of(side, self.weights) for side in sides]
        if max(mean.error for mean in means) <= SAME:
            return of_items

        def interval(level: float) -> Interval:
            low, high = percent(np.array(smaller(mean.interval(level) for mean in means)))
            return float(low), float(high), "t over target terms"

        return replace(of_items, interval=interval)


class WithinTerms:
    """Too few terms to stand for others: they are held fixed, and items are drawn within them."""

    def __init__(self, part: CatSample, settings: Settings) -> None:
        self.part = part
        rng = generator(settings.seed, part.slice)
        lms, ss = resampled_means(
            part.outcomes, (LMS_OF, SS_OF), settings.resamples, rng, settings.level
        )
        self.draws = averages(100 * lms, 100 * ss, part.n, np.ones(part.terms))

    def of(self, name: str) -> Spread:
        agreed, test = "items agree; terms held fixed", "sign flips of items, terms held fixed"
        of_items = _of_items(self.part, name, agreed, test, THESE)
        error = float(self.draws[name].std())

        def interval(level: float) -> Interval:
            low, high = self._drawn(name, level)
            how = "percentile bootstrap over items, no narrower than Wilson; terms held fixed"
            if high - low <= SAME:
                low, high, how = of_items.interval(level)
            elif base(name) != "icat":
                least = _wilson(self.part, name, level)
                low, high = min(low, least[0]), max(high, least[1])
            # With few items draws may all be on one side of the value.
            return min(low, of_items.value), max(high, of_items.value), how

        seen = partial(detectable, error) if error > SAME else of_items.detectable
        return replace(of_items, interval=interval, detectable=seen)

    def _drawn(self, name: str, level: float) -> tuple[float, float]:
        if name not in ("icat", "icat_micro"):
            return percentile(self.draws[name], level)
        lms, ss = (self.draws[name.replace("icat", of)] for of in ("lms", "ss"))
        low, high = smaller(percentile(side, level) for side in sides(lms, ss))
        return low, min(100.0, high)


def _of_items(part: CatSample, name: str, agreed: str, test: str, scope: str) -> Spread:
    """What as many independent items show, where nothing else varies."""
    return Spread(
        part.point[name],
        lambda level: (*unanimous(part, name, level), f"Wilson: all {agreed}"),
        lambda: sign_flip([np.repeat(TESTED[name] - 0.5, row) for row in part.outcomes]),
        test if name in TESTED else "",
        partial(detectable, 50 / sqrt(part.coverage.answered)),
        scope=scope,
    )


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
