"""What a tested estimate says in words, and the correction over the slices shown together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from stereometer.stats.tests import holm
from stereometer.types import Estimate


@dataclass(frozen=True)
class Words:
    above: str
    below: str
    neither: str


PREFERENCE = Words("prefers stereotypes", "prefers anti-stereotypes", "not distinguishable from 50")
LANGUAGE = Words("better than chance", "worse than chance", "not distinguishable from chance")
NULL_VALUE = 50.0
"""Both tests are against 50: no preference, or no language modelling."""


def judged(estimates: Iterable[Estimate], words: dict[str, Words], level: float) -> list[Estimate]:
    """The estimates with p adjusted (Holm) over those of one name whose slices fix the same things, and a verdict."""
    found = list(estimates)
    families: dict[tuple[object, ...], list[int]] = {}
    for index, one in enumerate(found):
        if one.name in words and one.p is not None:
            families.setdefault((one.name, *sorted(one.slice)), []).append(index)
    for family in families.values():
        adjusted = holm([found[index].p or 0.0 for index in family])
        for index, p in zip(family, adjusted, strict=True):
            found[index] = _with_verdict(found[index], p, len(family), words, level)
    return found


def _with_verdict(
    one: Estimate, p: float, tests: int, words: dict[str, Words], level: float
) -> Estimate:
    says = words[one.name]
    beyond = p < 1 - level and one.value is not None and one.value != NULL_VALUE
    verdict = (
        says.neither if not beyond else says.above if (one.value or 0) > NULL_VALUE else says.below
    )
    return replace(one, p_adjusted=p, tests=tests, verdict=verdict)
