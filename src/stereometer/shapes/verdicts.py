"""What a tested estimate says in words, and the correction over the slices shown together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stereometer.stats.families import corrected
from stereometer.types import Estimate, Settings

NULL_VALUE = 50.0
"""Tests are against 50: no preference, or no better than chance."""


@dataclass(frozen=True)
class Verdicts:
    """What the test of a metric may say."""

    above: str
    below: str
    neither: str

    def of(self, estimate: Estimate, p: float, level: float) -> str:
        if p >= 1 - level or estimate.value is None or estimate.value == NULL_VALUE:
            return self.neither
        return self.above if estimate.value > NULL_VALUE else self.below


PREFERENCE = Verdicts(
    "prefers stereotypes", "prefers anti-stereotypes", "not distinguishable from 50"
)
LANGUAGE = Verdicts("better than chance", "worse than chance", "not distinguishable from chance")


def at_floor(p: float | None, adjusted: float, settings: Settings, sides: int = 1) -> str | None:
    """What is said where p is the least that so many resamples can give, and not small enough.

    A bootstrap counts both `sides`, so its p falls no lower than twice that of a permutation.
    """
    least = sides / (settings.resamples + 1)
    if p is None or p > least * (1 + 1e-9) or adjusted < 1 - settings.level:
        return None
    return (
        f"undecided: with {settings.resamples:,} resamples p cannot fall below {adjusted:.2g}; "
        "take more"
    )


def judged(
    estimates: Iterable[Estimate], verdicts: dict[str, Verdicts], level: float
) -> list[Estimate]:
    """With p adjusted over those of one name whose slices fix the same things, and a verdict."""
    return corrected(
        estimates,
        lambda estimate, p: verdicts[estimate.name].of(estimate, p, level),
        lambda estimate: (
            (estimate.name, *sorted(estimate.slice)) if estimate.name in verdicts else None
        ),
    )
