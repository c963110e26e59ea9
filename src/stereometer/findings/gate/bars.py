"""Bars that overall values must reach, held against the whole interval: `ss<=55`, `|ss-50|<=5`.

A bar is met where the whole interval satisfies it, missed where all of it violates it, and
undecided otherwise. `point(ss)<=55` is about the value alone.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from stereometer.errors import UsageError
from stereometer.types import Estimate

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
NUMBER = r"-?\d+(?:\.\d+)?"
BAR = re.compile(rf"(point\()?(?:(\w+)|\|(\w+)-({NUMBER})\|)(?(1)\))(>=|<=|>|<)({NUMBER})")

Outcome = Literal["met", "missed", "undecided"]


@dataclass(frozen=True)
class Bar:
    metric: str
    sign: str
    number: float
    centre: float | None = None
    """What the distance is from, where the bar is about a distance."""
    point: bool = False
    """Whether it is about the value alone."""

    def outcome(self, estimate: Estimate) -> Outcome:
        """A value that is not there misses every bar; one that ties leave undetermined, or that
        has no interval, decides none."""
        if estimate.value is None:
            return "missed" if estimate.least is None else "undecided"
        low, high = (estimate.value,) * 2 if self.point else estimate.ends
        if low is None or high is None:
            return "undecided"
        ends = (low, high) if self.centre is None else distances(low, high, self.centre)
        satisfied = {OPERATORS[self.sign](end, self.number) for end in ends}
        return "undecided" if len(satisfied) > 1 else "met" if True in satisfied else "missed"

    def short_of(self, estimate: Estimate) -> float | None:
        """How many times as narrow the interval must be to lie on one side of the bar, if the value
        stays where it is; None where it lies on the bar."""
        if estimate.value is None or estimate.low is None or estimate.high is None:
            return None
        value = estimate.value if self.centre is None else abs(estimate.value - self.centre)
        away = abs(value - self.number)
        reach = max(estimate.high - estimate.value, estimate.value - estimate.low)
        return reach / away if away else None

    def __str__(self) -> str:
        about = self.metric if self.centre is None else f"|{self.metric}-{self.centre:g}|"
        return f"{f'point({about})' if self.point else about}{self.sign}{self.number:g}"


def distances(low: float, high: float, centre: float) -> tuple[float, float]:
    """The smallest and the largest distance from a point that an interval leaves possible."""
    away = abs(low - centre), abs(high - centre)
    return 0.0 if low <= centre <= high else min(away), max(away)


def read_bar(text: str) -> Bar:
    parts = BAR.fullmatch("".join(text.split()))
    if not parts:
        raise UsageError(
            f"--require '{text}' is not understood. It takes a name, one of "
            f"{' '.join(OPERATORS)} and a number. For instance 'icat>=70', '|ss-50|<=5', or "
            "'point(ss)<=55' for the value without its interval."
        )
    point, name, of_distance, centre, sign, number = parts.groups()
    about = None if centre is None else float(centre)
    return Bar(name or of_distance, sign, float(number), about, point is not None)
