"""What a difference is, whatever the shape of the items: of two systems on the same items, and of
some of the items of a run from all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stereometer.core.shapes.verdicts import NULL_VALUE, SAME
from stereometer.core.stats.intervals import Floats, percentile, wilson_percent
from stereometer.core.stats.means import POWER, StudentMean
from stereometer.core.stats.tests import detectable
from stereometer.core.types import Settings, Slice
from stereometer.core.types.document import Document

NO_DIFFERENCE = "not beyond noise"
FARTHEST = 50.0
"""No value is farther from 50."""


@dataclass(frozen=True)
class Difference(Document):
    """Second minus first in one metric and slice."""

    name: str
    slice: Slice
    first: float
    second: float
    n: int
    """Items both answered."""
    asked: int
    terms: int | None
    ideal: float | None
    low: float = 0.0
    high: float = 0.0
    p: float = 1.0
    test: str = ""
    floor: float | None = None
    """The least p that so many resamples can give, where the test draws them."""
    detectable: float | None = None
    """The smallest true difference that its test, corrected over its family, finds with 80 % power;
    None where nothing varies, which says nothing about it."""
    free: float | None = None
    """Degrees of freedom that its standard error is known with; None where it is taken as known."""
    p_adjusted: float = 1.0
    tests: int = 1
    correction: str | None = None
    verdict: str = NO_DIFFERENCE
    beyond_noise: bool = False
    scope: str | None = None
    """What it speaks of: `terms like these`, `these terms`, `pairs like these`."""
    p_closer: float | None = None
    """That one is closer to an ideal of 50: the larger p of a difference and of a sum that is not
    zero, where both are measured from 50."""
    p_closer_adjusted: float | None = None
    sum_low: float | None = None
    """The interval of the sum of both, each measured from an ideal of 50."""
    sum_high: float | None = None
    closer: str = "neither"
    """Which of the two is nearer to the ideal, where that is beyond noise."""

    def as_json(self) -> dict[str, Any]:
        value = super().as_json()
        return value | {"difference": self.difference, "closer_to_ideal": value.pop("closer")}

    @property
    def difference(self) -> float:
        return self.second - self.first

    @property
    def nearer(self) -> str:
        """Which of the two values is nearer to the ideal, tested or not."""
        if self.ideal is None:
            return "neither"
        first, second = abs(self.first - self.ideal), abs(self.second - self.ideal)
        return "neither" if first == second else "first" if first < second else "second"

    def judged(self, p_closer: float | None, level: float) -> Difference:
        """With the claim that one is closer, after the correction; beyond the ideal no value can
        be, so where that is an end of the scale the difference itself says it."""
        sure = self.beyond_noise if p_closer is None else p_closer < 1 - level
        return replace(self, closer=self.nearer if sure else "neither", p_closer_adjusted=p_closer)

    def with_sum(self, interval: tuple[float, float], p: float, settings: Settings) -> Difference:
        """With interval and test of both together, each measured from 50, where that is the ideal:
        neither is closer where the sum of both is not beyond noise."""
        if self.ideal != NULL_VALUE:
            return self
        low, high = interval
        if high - low <= SAME:
            low, high = self._widest(self.first + self.second - 2 * NULL_VALUE, settings)
        return replace(self, sum_low=low, sum_high=high, p_closer=max(self.p, p))

    def over_terms(self, mean: StudentMean, settings: Settings) -> Difference:
        """With the interval, the test and what could be seen from one standard error."""
        if mean.error <= SAME:
            return self.without_spread(settings)
        low, high = mean.interval(settings.level)
        seen = mean.detectable(settings.level)
        p, free = mean.p(), mean.free
        return replace(self, low=low, high=high, p=p, detectable=seen, free=free)

    def without_spread(self, settings: Settings, span: float = 100.0) -> Difference:
        """Where all clusters differ alike, or not at all, which is not certainty."""
        low, high = self._widest(self.difference, settings, span)
        return replace(self, low=low, high=high, detectable=None)

    def unchanged(self, settings: Settings) -> Difference:
        """Where no item differs: within the share of items of which so many show none, in one of 40
        sets at a level of 95 %."""
        unseen: float = 100 * (1 - ((1 - settings.level) / 2) ** (1 / self.n))
        return replace(self, low=-unseen, high=unseen, detectable=None)

    def _widest(self, value: float, settings: Settings, span: float = 100.0) -> tuple[float, float]:
        """No wider spread is possible for so many items on a scale of this span: it stands in for
        one that is not seen."""
        share = (100 + 100 * value / span) / 2 if span else 50.0
        low, high = wilson_percent(share, self.n, settings.level)
        return span * (low / 50 - 1), span * (high / 50 - 1)

    def measured(
        self, draws: Floats, p: float, test: str, settings: Settings, span: float = 100.0
    ) -> Difference:
        """With its interval, its test and what this set could have seen."""
        low, high = percentile(draws, settings.level)
        if high - low <= SAME:
            return replace(self.without_spread(settings, span), p=p, test=test)
        seen = detectable(float(draws.std()), settings.level, POWER)
        return replace(self, low=low, high=high, p=p, test=test, detectable=seen)


@dataclass(frozen=True)
class Closeness(Document):
    """How much nearer to 50, or farther, the second value is: below 0 is nearer."""

    first: float
    second: float
    change: float
    """The distance of the second value from 50 less that of the first: what goes past 50 as far as
    it was before has gained nothing."""
    low: float
    high: float
    p: float
    """Adjusted; that it is not 0."""
    closer: str
    """`first` or `second` where that is beyond noise, else `neither`."""

    @classmethod
    def of(cls, row: Difference) -> Closeness:
        """From the difference and the sum of both values, each measured from 50: no distance
        changes by more than the value does."""
        change = abs(row.second - NULL_VALUE) - abs(row.first - NULL_VALUE)
        both, most = row.first + row.second - 2 * NULL_VALUE, max(abs(row.low), abs(row.high))
        least, largest = (both if end is None else end for end in (row.sum_low, row.sum_high))
        low = max(-most, -FARTHEST, min(row.low, least), min(-row.high, -largest))
        high = min(most, FARTHEST, max(min(row.high, largest), min(-row.low, -least)))
        p = 1.0 if row.p_closer_adjusted is None else row.p_closer_adjusted
        return cls(row.first, row.second, change, low, high, p, row.closer)


@dataclass(frozen=True)
class Flip:
    """An item on which the two systems prefer different candidates."""

    item: str
    slices: Slice
    first: str
    second: str
    toward_stereotype: bool
    """Whether the second system is nearer to the stereotype than the first."""


@dataclass(frozen=True)
class Withheld:
    """A slice that too few items were answered in by both to be compared."""

    slice: Slice
    n: int
    asked: int
    why: str


def asked_or_withheld(
    slice_: Slice, n: int, every: Sequence[Slice], settings: Settings
) -> int | Withheld:
    """How many items of a slice were asked, or why it is not compared."""
    asked = sum(slice_.items() <= item.items() for item in every)
    if n / asked >= settings.coverage:
        return asked
    why = f"only {n} of {asked} items were answered by both, below the coverage floor"
    return Withheld(slice_, n, asked, f"{why} of {settings.coverage:.0%}")


WITHIN = "within noise"


@dataclass(frozen=True)
class Shift(Document):
    """A metric on all answered items and on those kept; the shift is kept minus all."""

    name: str
    slice: Slice
    ideal: float
    value: float | None
    n: int
    kept: float | None
    n_kept: int
    low: float | None = None
    high: float | None = None
    interval: str | None = None
    verdict: str | None = None
    why: str | None = None
    scope: str | None = None
    """What the interval speaks of: `terms like these`, `these terms`, `pairs like these`."""

    @property
    def difference(self) -> float | None:
        return None if self.kept is None or self.value is None else self.kept - self.value

    def as_json(self) -> dict[str, Any]:
        return super().as_json() | {"difference": self.difference}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Shift:
        return cls(**{key: field for key, field in value.items() if key != "difference"})

    def spanned(self, ends: tuple[float, float], interval: str, scope: str | None = None) -> Shift:
        """With its interval, how that was found, what it speaks of, and what it says."""
        low, high = ends
        verdict = WITHIN if low <= 0 <= high else "up" if low > 0 else "down"
        return replace(self, low=low, high=high, interval=interval, scope=scope, verdict=verdict)

    def without(self, why: str) -> Shift:
        """Where too little is kept for a value."""
        return Shift(
            self.name, self.slice, self.ideal, self.value, self.n, None, self.n_kept, why=why
        )
