"""Two systems on the same items: what a difference is, whatever the shape of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stereometer.stats.intervals import Floats, percentile
from stereometer.stats.tests import detectable
from stereometer.types import Settings, Slice

POWER = 0.80
NO_DIFFERENCE = "not beyond noise"


@dataclass(frozen=True)
class Difference:
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
    detectable: float = 0.0
    """The smallest true difference that a test on this set, before correction, finds.

    With 80 % power.
    """
    p_adjusted: float = 1.0
    tests: int = 1
    correction: str | None = None
    verdict: str = NO_DIFFERENCE

    @property
    def difference(self) -> float:
        return self.second - self.first

    @property
    def closer(self) -> str:
        """Which of the two is nearer to the ideal."""
        if self.ideal is None:
            return "neither"
        first, second = abs(self.first - self.ideal), abs(self.second - self.ideal)
        return "neither" if first == second else "first" if first < second else "second"

    def measured(self, draws: Floats, p: float, test: str, settings: Settings) -> Difference:
        """With its interval, its test and what this set could have seen."""
        low, high = percentile(draws, settings.level)
        seen = detectable(float(draws.std()), settings.level, POWER)
        return replace(self, low=low, high=high, p=p, test=test, detectable=seen)


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
