"""Preferences, whether items are CATs or pairs: the habits of forced choice, what few items could
show at all, and what stands under tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import sqrt

from stereometer.core.shapes.shape import Metric
from stereometer.core.shapes.verdicts import FAMILIES
from stereometer.core.shapes.view import overall
from stereometer.core.show import numbers
from stereometer.core.show.numbers import count
from stereometer.core.stats.tests import detectable
from stereometer.core.types import Result
from stereometer.core.types.results import MOST_MISSING

FIRST_POSITION = Metric(
    "first_position",
    "first option chosen",
    50.0,
    about="How often the first of two options was chosen, in percent.",
)
ORDER_AGREEMENT = Metric(
    "order_agreement",
    "orders agree",
    about="How many comparisons come out the same in both orders, in percent.",
)
POSITION_EFFECT = Metric(
    "position_effect",
    "log-odds of the first place",
    0.0,
    digits=2,
    about="How much the first place adds to the log-odds of an option, whatever stands there.",
)
OPTION_MASS = Metric(
    "option_mass",
    "held by the options",
    about="How much of the probability of what comes next the options hold, in percent.",
)
NEUTRAL_SHARE = Metric(
    "neutral_share",
    "neutral option",
    about="How often the neutral option was taken, or its share of what the options hold.",
)
DECIDED = Metric(
    "decided",
    "ratings differ",
    about="How many comparisons of two ratings have a higher one, in percent.",
)
HABITS = (
    FIRST_POSITION,
    ORDER_AGREEMENT,
    POSITION_EFFECT,
    OPTION_MASS,
    NEUTRAL_SHARE,
    DECIDED,
)


FEW_TERMS = 2
"""So few terms say nothing of others."""
WIDEST = 50.0
"""No score is farther from 50."""
NAMED = 3


def small_slices(items: Iterable[tuple[str, str | None]], level: float) -> str | None:
    """From the slice and the term of each item, the term where items have one."""
    slices: dict[str, list[str | None]] = {}
    for name, term in items:
        slices.setdefault(name, []).append(term)
    outlooks = [_outlook(name, terms, level) for name, terms in sorted(slices.items())]
    small = [outlook for outlook in outlooks if outlook]
    if not small:
        return None
    more = f"; and {len(small) - NAMED} more" if small[NAMED:] else ""
    return f"Small slices: {'; '.join(small[:NAMED])}{more}."


def _outlook(name: str, terms: list[str | None], level: float) -> str | None:
    least = detectable(WIDEST / sqrt(len(terms)), level)
    distinct = {term for term in terms if term is not None}
    few = bool(distinct) and len(distinct) <= FEW_TERMS
    if least < WIDEST and not few:
        return None
    size = count(len(terms), "item") + (f" of {count(len(distinct), 'term')}" if distinct else "")
    if least >= WIDEST:
        return f"{name} ({size}) has too few items to show an effect"
    return f"{name} ({size}) could show {least:.0f} points from 50, for these terms alone"


def legend(results: Sequence[Result]) -> Iterator[str]:
    """How to read the numbers."""
    level = float(results[0].settings["level"])
    stopped = [result.stopped for result in results if result.stopped]
    if stopped and all(row.low is None for result in results for row in result.estimates):
        yield "Values of these very items, without an interval."
    elif stopped and all(each["decided"] for each in stopped):
        yield f"[low, high]: {level:.0%} intervals that hold at every look."
    elif stopped:
        last = numbers.number(100 * (1 + level) / 2)
        yield f"[low, high]: {last} % intervals; the looks before took half of the error."
    else:
        yield f"[low, high]: {level:.0%} intervals. p: against 50; {FAMILIES}."
    if any(row.ties and row.least is not None for result in results for row in result.estimates):
        yield "ties: how many, and the score if all of them were lost, or won."
    if any(row.missing_low is not None for result in results for row in result.estimates):
        yield (
            f"unanswered: the interval with all of them, and all ties, lost, or won; the verdict "
            f"goes by it above {MOST_MISSING:.0%}."
        )
    yield "A score near 50 does not show that a model is free of bias."
    for result in results:
        yield from _position(result, f"{result.model}: " if len(results) > 1 else "")


def _position(result: Result, prefix: str) -> Iterator[str]:
    """Forced choice: whether the place of an option decides, and whether both orders agree."""
    estimates = overall(result)
    first, agree = estimates.get("first_position"), estimates.get("order_agreement")
    effect, mass = estimates.get("position_effect"), estimates.get("option_mass")
    neutral, differ = estimates.get("neutral_share"), estimates.get("decided")
    if first is not None and first.value is not None:
        yield (
            f"{prefix}the first option is chosen {numbers.with_interval(first)} % of the time: "
            f"{first.verdict} ({numbers.p_words(first.p)})"
        )
    if agree is not None and agree.value is not None:
        yield f"{prefix}both orders agree in {numbers.with_interval(agree)} % of the comparisons"
    if effect is not None and effect.value is not None:
        yield (
            f"{prefix}the first place adds {numbers.with_interval(effect, 2)} to the log-odds "
            f"of an option, which is taken off the preference: {effect.verdict}"
        )
    if mass is not None and mass.value is not None:
        yield f"{prefix}the options hold {numbers.with_interval(mass)} % of the probability"
    if neutral is not None and neutral.value is not None:
        yield f"{prefix}the neutral option has {numbers.with_interval(neutral)} % of the answers"
    if differ is not None and differ.value is not None:
        yield f"{prefix}ratings differ in {numbers.with_interval(differ)} % of the comparisons"
