"""Whether the place of an option decides, and what becomes of the scores where it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from stereometer.core.shapes.verdicts import NULL_VALUE
from stereometer.core.show.numbers import number
from stereometer.core.stats.clusters import clustered_percent
from stereometer.core.stats.intervals import Floats, generator
from stereometer.core.stats.means import StudentMean, effective
from stereometer.core.stats.tests import sign_interval, sign_test
from stereometer.core.types import Estimate, Score, Settings, Slice
from stereometer.core.types.names import NEUTRAL

DECIDED_FLOOR = 0.5
"""Below this share of comparisons that come out the same in both orders there is no score."""
LEAST_ITEMS = 2
"""For a mean to have an interval."""
NUMBERS = "value low high interval p test p_adjusted tests verdict beyond_noise"
"""What an estimate without a score does not have."""


def chosen(answer: Mapping[str, str]) -> str | None:
    """The candidate that a kept answer to a forced choice took; none where it took the neutral
    option. `asked` holds the candidates in the order shown, such as `stereotype>unrelated`."""
    if "position" not in answer:
        return None
    return answer["asked"].split(">")[int(answer["position"]) - 1]


def first_position(scores: Sequence[Score], settings: Settings) -> Estimate:
    """How often the first option is chosen. Answers about one item are not independent: an item
    counts by how far it leans to a position, and those that do not lean say nothing of a side.

    The value is 50 + (share - 1/2) lean: how far items lean, in percent, and the share of it that
    goes to the first. The interval holds whatever the intervals of the two allow together. So it
    leaves out 50 where the sign test of the share rejects, and only there.
    """
    first = [
        [float(answer["position"] == "1") for answer in score.answers if "position" in answer]
        for score in scores
    ]
    position = _rate("first_position", {}, first, settings, 50.0)
    if position.value is None:
        return position
    leaning = np.array([2 * sum(values) - len(values) for values in first])
    leans = [
        [float(at < abs(lean)) for at in range(len(values))]
        for lean, values in zip(leaning, first, strict=True)
    ]
    far = _rate("first_position", {}, leans, settings, None)
    shares, p = _sides(leaning, settings.level)
    bounds = [50 + (share - 0.5) * (end or 0.0) for share in shares for end in (far.low, far.high)]
    known = replace(
        position,
        low=min(bounds),
        high=max(bounds),
        interval="exact over items that lean, with how far they lean",
        p=p,
        test="exact sign test over items, each by how far its answers lean to a position",
        p_adjusted=p,
        tests=1,
    )
    return _judged(known, int(np.count_nonzero(leaning)), settings.level)


def _sides(leaning: Floats, level: float) -> tuple[tuple[float, float], float]:
    """The interval of the share that goes to the first, and its p; items that lean unequally count
    as fewer that lean alike."""
    size = np.abs(leaning)
    if not size.any():
        return (0.0, 1.0), 1.0
    share, items = float(leaning.clip(min=0).sum() / size.sum()), effective(size)
    sides = share * items, (1 - share) * items
    return sign_interval(*sides, level), sign_test(*sides)


def _judged(position: Estimate, leaning: int, level: float) -> Estimate:
    low, high = position.low or 0.0, position.high or 0.0
    if not low <= NULL_VALUE <= high:
        side = "first" if low > NULL_VALUE else "second"
        return replace(position, verdict=f"prefers the {side} option", beyond_noise=True)
    says = f"undecided: {number(low)} to {number(high)} all fit"
    if sign_test(leaning, 0) >= 1 - level:
        says += f"; too few items lean to a position ({leaning} of {position.n})"
    return replace(position, verdict=says, beyond_noise=False)


def order_agreement(slice_: Slice, scores: Sequence[Score], settings: Settings) -> Estimate:
    """How many comparisons come out the same in both orders."""
    return _rate("order_agreement", slice_, [_agreeing(score) for score in scores], settings, None)


def _agreeing(score: Score) -> list[float]:
    by_pair: dict[frozenset[str], list[str | None]] = {}
    for answer in score.answers:
        if "position" in answer or NEUTRAL in answer:
            asked = frozenset(answer["asked"].split(">"))
            by_pair.setdefault(asked, []).append(chosen(answer))
    return [float(names[0] == names[1]) for names in by_pair.values() if len(names) == 2]


def neutral_share(scores: Sequence[Score], settings: Settings) -> Estimate:
    """How many answers took the neutral option."""
    taken = [
        [float(NEUTRAL in answer) for answer in score.answers if "skipped" not in answer]
        for score in scores
    ]
    return _rate("neutral_share", {}, taken, settings, None)


def shares_held(name: str, scores: Sequence[Score], settings: Settings) -> Estimate:
    """The mean of a share that is kept of every item, in percent."""
    found = [[score.derived[name]] if name in score.derived else [] for score in scores]
    return _rate(name, {}, found, settings, None)


POSITION_EFFECT, OPTION_MASS, NEUTRAL_SHARE = "position_effect", "option_mass", "neutral_share"
"""Kept of every item, and estimated."""


def position_effect(scores: Sequence[Score], settings: Settings) -> Estimate:
    """The mean log-odds of the first place, one value an item: what candidates add is cancelled."""
    found = [score.derived.get(POSITION_EFFECT) for score in scores]
    values = np.array([value for value in found if value is not None])
    empty = Estimate(POSITION_EFFECT, {}, None, None, None, values.size, len(scores), 0, 0.0)
    if values.size < LEAST_ITEMS:
        return replace(empty, why=f"fewer than {LEAST_ITEMS} items")
    mean = StudentMean.of(values)
    low, high = mean.interval(settings.level)
    p, test = mean.p(), "t over items"
    if not mean.has_spread:
        p, test = sign_test((values > 0).sum(), (values < 0).sum()), "exact sign test: items agree"
    side, beyond = "first" if mean.value > 0 else "second", p < 1 - settings.level
    says = f"prefers the {side} option" if beyond else "undecided"
    return replace(
        empty,
        value=mean.value,
        low=low,
        high=high,
        interval="t over items",
        p=p,
        test=test,
        p_adjusted=p,
        tests=1,
        verdict=says,
        beyond_noise=beyond,
    )


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


def decided(slice_: Slice, scores: Sequence[Score], settings: Settings) -> Estimate:
    """How many comparisons of ratings are no ties."""
    rated = [
        [value for name, value in score.derived.items() if name.startswith("rating ")]
        for score in scores
    ]
    differ = [[float(left != right) for left, right in combinations(each, 2)] for each in rated]
    return _rate("decided", slice_, differ, settings, None)


FOLLOWS_POSITION = (
    "only {share:.0f} % of the comparisons come out the same in both orders; "
    "the rest follow the position, and their ties would look like 50"
)


def withheld(estimate: Estimate, *decided: Estimate, why: str = FOLLOWS_POSITION) -> Estimate:
    """Without a value where, overall or in its slice, most comparisons decide nothing."""
    share = min((each.value for each in decided if each.value is not None), default=100.0)
    if estimate.value is None or share >= 100 * DECIDED_FLOOR:
        return estimate
    nothing: dict[str, Any] = dict.fromkeys(NUMBERS.split())
    return replace(estimate, **nothing, why=why.format(share=share))
