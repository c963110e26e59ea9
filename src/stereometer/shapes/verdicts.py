"""What a tested estimate says in words, and the correction over the slices shown together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stereometer.stats.families import corrected
from stereometer.types import Estimate

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
