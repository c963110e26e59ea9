"""Whether the place of an option decides, and what becomes of the scores where it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stereometer.stats.clusters import clustered_percent
from stereometer.stats.intervals import generator
from stereometer.stats.tests import sign_test
from stereometer.types import Estimate, Score, Settings, Slice

DECIDED_FLOOR = 0.5
"""Below this share of comparisons that come out the same in both orders there is no score."""
NUMBERS = (
    "value",
    "low",
    "high",
    "interval",
    "p",
    "p_adjusted",
    "tests",
    "verdict",
    "beyond_noise",
)
"""What an estimate without a score does not have."""


def chosen(answer: Mapping[str, str]) -> str | None:
    """The candidate that an answer chose."""
    if "position" not in answer:
        return None
    return answer["asked"].split(">")[int(answer["position"]) - 1]


def first_position(scores: Sequence[Score], settings: Settings) -> Estimate:
    """How often the first option is chosen. Answers about one item are not independent: the test
    counts each item's majority."""
    first = [
        [float(answer["position"] == "1") for answer in score.answers if "position" in answer]
        for score in scores
    ]
    position = _rate("first_position", {}, first, settings, 50.0)
    if position.value is None:
        return position
    leaning = [sum(values) - len(values) / 2 for values in first]
    wins, losses = sum(value > 0 for value in leaning), sum(value < 0 for value in leaning)
    p = sign_test(wins, losses)
    word = "prefers the first option" if wins > losses else "prefers the second option"
    beyond = p < 1 - settings.level
    says = word if beyond else "no preference for a position"
    return replace(position, p=p, p_adjusted=p, tests=1, verdict=says, beyond_noise=beyond)


def order_agreement(slice_: Slice, scores: Sequence[Score], settings: Settings) -> Estimate:
    """How many comparisons come out the same in both orders."""
    return _rate("order_agreement", slice_, [_agreeing(score) for score in scores], settings, None)


def _agreeing(score: Score) -> list[float]:
    by_pair: dict[frozenset[str], list[str | None]] = {}
    for answer in score.answers:
        if "position" in answer:
            asked = frozenset(answer["asked"].split(">"))
            by_pair.setdefault(asked, []).append(chosen(answer))
    return [float(names[0] == names[1]) for names in by_pair.values() if len(names) == 2]


def _rate(
    name: str,
    slice_: Slice,
    groups: Sequence[Sequence[float]],
    settings: Settings,
    ideal: float | None,
) -> Estimate:
    """A share of what is known of items, in percent, items resampled."""
    known = [group for group in groups if group]
    n, asked = len(known), len(groups)
    if not known:
        return Estimate(
            name, slice_, None, None, None, 0, asked, 0, ideal, why="no answer could be read"
        )
    rng = generator(settings.seed, slice_, name)
    share = clustered_percent(known, settings.resamples, settings.level, rng, "items")
    empty = Estimate(name, slice_, None, None, None, n, asked, 0, ideal)
    return replace(empty, **share)


def withheld(estimate: Estimate, *decided: Estimate) -> Estimate:
    """Without a value where, overall or in its slice, most comparisons follow the position."""
    share = min((agreed.value for agreed in decided if agreed.value is not None), default=100.0)
    if estimate.value is None or share >= 100 * DECIDED_FLOOR:
        return estimate
    why = (
        f"only {share:.0f} % of the comparisons come out the same in both orders; "
        "the rest follow the position, and their ties would look like 50"
    )
    nothing: dict[str, Any] = dict.fromkeys(NUMBERS)
    return replace(estimate, **nothing, why=why)
