"""What a tested estimate says in words, and the correction over the slices shown together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from stereometer.core.show.numbers import count, number
from stereometer.core.stats.means import among
from stereometer.core.stats.tests import Said, corrected, false_discovery, holm
from stereometer.core.types import Estimate, Settings

if TYPE_CHECKING:
    from stereometer.core.shapes.differences import Difference

NULL_VALUE = 50.0
"""Tests are against 50: no preference, or no better than chance."""
SAME = 1e-9
"""Percentages closer than this are equal but for rounding."""
ALL_ALIKE = "none: all agree, which is not certainty"
"""Where there would be an interval of zero width."""
FEW_TERMS = 10
"""With fewer terms than this the terms are held fixed."""
LIKE_THESE, THESE = "terms like these", "these terms"
"""What an interval over target terms speaks of; the second where there are too few to be drawn."""
OVERALL, SLICES = "one test", "Holm over slices"
"""The two families of a metric (docs/decisions/0030-the-overall-row-is-its-own-family.md)."""
FAMILIES = "two families, overall alone and Holm over the slices"
EXPLORATORY = "Benjamini-Hochberg over terms, exploratory"


@dataclass(frozen=True)
class Verdicts:
    """What the test of a metric may say."""

    above: str
    below: str
    neither: str

    def of(self, estimate: Estimate, p: float, level: float, delta: float = 5.0) -> Said:
        """An interval around 50 leaves both sides open, however small p is."""
        if p >= 1 - level or not leaves_out_50(estimate):
            return self.neither, False
        return self.above if (estimate.value or 0.0) > NULL_VALUE else self.below, True


def leaves_out_50(estimate: Estimate) -> bool:
    """Of its own interval, whatever else is tested; of the value where there is none."""
    if (value := estimate.value) is None:
        return False
    low, high = (value if end is None else end for end in estimate.ends)
    return not low <= NULL_VALUE <= high


class Equivalence(Verdicts):
    """Where the ideal is 50: a small preference and none worth speaking of are findings too."""

    def of(self, estimate: Estimate, p: float, level: float, delta: float = 5.0) -> Said:
        says, beyond = super().of(estimate, p, level)
        small = f", by less than {delta:g} points" if estimate.equivalent else ""
        if beyond:
            return f"{says}{small}", True
        if leaves_out_50(estimate):  # its own interval says more than its family lets it say
            side = "stereotypes" if (estimate.value or 0.0) > NULL_VALUE else "anti-stereotypes"
            among = f" among {estimate.tests} tests" if (estimate.tests or 1) > 1 else ""
            return f"leans to {side}{small}; not beyond noise{among}", False
        return f"within {delta:g} points of 50" if estimate.equivalent else _open(estimate), False


def _open(estimate: Estimate) -> str:
    """What the items leave possible, and what they could have shown."""
    low, high = estimate.ends
    says = f"{PREFERENCE.neither}: {number(low)} to {number(high)} all fit"
    if estimate.is_doubtful:
        says += f", whatever {count(estimate.missing, 'unanswered item')} would say"
    if estimate.detectable is None:
        return says
    return f"{says}; an effect of {number(estimate.detectable)} or more would show"


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
    rows = list(estimates)
    for at, row in enumerate(rows):
        if row.name in verdicts and row.p is not None:
            explored = any(name in row.slice for name in fine)
            how = EXPLORATORY if explored else SLICES if row.slice else OVERALL
            rows[at] = replace(row, correction=how)
    return corrected(
        rows,
        lambda estimate, p: verdicts[estimate.name].of(estimate, p, settings.level, settings.delta),
        lambda estimate: (estimate.name, estimate.correction) if estimate.correction else None,
        lambda estimate: false_discovery if estimate.correction == EXPLORATORY else holm,
        lambda estimate: within_family(estimate, settings.level),
    )


Detecting = TypeVar("Detecting", Estimate, "Difference")


def within_family(row: Detecting, level: float) -> Detecting:
    """With what its test would find among those that it is corrected with."""
    if row.detectable is None or (row.tests or 1) < 2:
        return row
    return replace(row, detectable=among(row.tests or 1, row.detectable, level, row.free))


def without_score(estimate: Estimate, why: str, settings: Settings) -> Estimate:
    """Where ties leave the score open: `paper` keeps the authors' value, and says so."""
    if settings.variant == "paper":
        return replace(estimate, verdict=why)
    return replace(estimate, value=None, why=why)
