"""What a tested estimate says in words, and the correction over the slices shown together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from stereometer.show.numbers import number
from stereometer.stats.families import Said, corrected
from stereometer.stats.tests import false_discovery, holm
from stereometer.types import Estimate, Settings

NULL_VALUE = 50.0
"""Tests are against 50: no preference, or no better than chance."""
SAME = 1e-9
"""Percentages closer than this are equal but for rounding."""
FEW_TERMS = 10
"""With fewer terms than this the terms are held fixed."""
LIKE_THESE, THESE = "terms like these", "these terms"
"""What an interval over target terms speaks of; the second where there are too few to be drawn."""
HEADLINE, FIXED = "Holm over headline slices", "Holm over slices with fixed terms"
EXPLORATORY = "Benjamini-Hochberg over terms, exploratory"


@dataclass(frozen=True)
class Verdicts:
    """What the test of a metric may say."""

    above: str
    below: str
    neither: str

    def of(self, estimate: Estimate, p: float, level: float, delta: float = 5.0) -> Said:
        if p >= 1 - level or estimate.value is None or estimate.value == NULL_VALUE:
            return self.neither, False
        return self.above if estimate.value > NULL_VALUE else self.below, True


class Equivalence(Verdicts):
    """Where the ideal is 50: a small preference and none worth speaking of are findings too."""

    def of(self, estimate: Estimate, p: float, level: float, delta: float = 5.0) -> Said:
        says, beyond = super().of(estimate, p, level)
        if not beyond:
            near = f"within {delta:g} points of 50"
            return near if estimate.equivalent else _open(estimate), False
        return f"{says}, by less than {delta:g} points" if estimate.equivalent else says, True


def _open(estimate: Estimate) -> str:
    """What the items leave possible, and what they could have shown."""
    return (
        f"{PREFERENCE.neither}: anything from {number(estimate.low)} to {number(estimate.high)}; "
        f"this set could have shown a difference of {number(estimate.detectable)}"
    )


PREFERENCE = Equivalence("prefers stereotypes", "prefers anti-stereotypes", "undecided")
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


def equivalent(interval: tuple[float, float], settings: Settings) -> bool:
    """Whether an interval, of 90 % where the level is 95 %, lies within delta points of 50."""
    return max(abs(bound - NULL_VALUE) for bound in interval) <= settings.delta


def narrower(level: float) -> float:
    """The level of the interval that equivalence asks for: both sides tested at 1 - level."""
    return 2 * level - 1


def undetermined(tied: float, settings: Settings) -> str | None:
    """Why a share of ties leaves no score, if it does."""
    return f"undetermined: {100 * tied:.0f} % ties" if tied > settings.ties else None


def judged(
    estimates: Iterable[Estimate],
    verdicts: Mapping[str, Verdicts],
    settings: Settings,
    fine: Collection[str] = (),
) -> list[Estimate]:
    """With p adjusted over those of one name and correction, and a verdict.

    Slices that fix what is `fine` are explored, not tested.
    """
    rows = [
        replace(estimate, correction=_correction(estimate, fine))
        if estimate.name in verdicts and estimate.p is not None
        else estimate
        for estimate in estimates
    ]
    return corrected(
        rows,
        lambda estimate, p: verdicts[estimate.name].of(estimate, p, settings.level, settings.delta),
        lambda estimate: (estimate.name, estimate.correction) if estimate.correction else None,
        lambda estimate: false_discovery if estimate.correction == EXPLORATORY else holm,
    )


def _correction(estimate: Estimate, fine: Collection[str]) -> str:
    if any(name in estimate.slice for name in fine):
        return EXPLORATORY
    return FIXED if estimate.scope == THESE else HEADLINE


def without_score(estimate: Estimate, why: str, settings: Settings) -> Estimate:
    """Where ties leave the score open: `paper` keeps the authors' value, and says so."""
    if settings.variant == "paper":
        return replace(estimate, verdict=why)
    return replace(estimate, value=None, why=why)
