"""Options weighed in both orders, with a planted preference and a planted habit of the place."""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, exp, log, sqrt

import numpy as np

from stereometer.core.asking.graded_choice import LogOdds, Weighed
from stereometer.core.asking.habits import POSITION_EFFECT, position_effect
from stereometer.core.asking.options import held
from stereometer.core.types import Score, Settings
from stereometer.kinds.pairs.metrics import CANDIDATES, summarize

SETTINGS = Settings(resamples=100)


@dataclass(frozen=True)
class Planted:
    """Log-odds over items: how far they prefer the first candidate, and the first place."""

    preference: float
    habit: float
    spread: float = 1.0
    habit_spread: float = 0.5

    @property
    def share(self) -> float:
        """Of items that prefer the first candidate, in percent."""
        return 50 * (1 + erf(self.preference / self.spread / sqrt(2)))


def answers(planted: Planted, rng: np.random.Generator, items: int) -> list[Score]:
    """As a model whose options hold .9 would give them."""
    prefers = rng.normal(planted.preference, planted.spread, items)
    leans = rng.normal(planted.habit, planted.habit_spread, items)
    return [
        _score(str(at), Weighed(_odds(lean + prefer), _odds(lean - prefer)))
        for at, (prefer, lean) in enumerate(zip(prefers, leans, strict=True))
    ]


def _odds(value: float) -> LogOdds:
    first = 0.9 / (1 + exp(-value))
    return LogOdds.of(held([log(first), log(0.9 - first)]))


def _score(item: str, each: Weighed) -> Score:
    more, less = CANDIDATES
    values = {more: each.won, less: 1 - each.won}
    slices = {"bias_type": "one", "direction": "stereo"}
    return Score(item, slices, values, derived={POSITION_EFFECT: each.position})


def coverage(planted: Planted, items: int, sets: int, seed: int = 21) -> tuple[float, float]:
    """How often the intervals hold the share that prefers the first, and the habit."""
    rng, shares, habits = np.random.default_rng(seed), 0, 0
    for _ in range(sets):
        scores = answers(planted, rng, items)
        overall = next(each for each in summarize(scores, SETTINGS) if not each.slice)
        effect = position_effect(scores, SETTINGS)
        shares += (overall.low or 0) <= planted.share <= (overall.high or 0)
        habits += (effect.low or 0) <= planted.habit <= (effect.high or 0)
    return shares / sets, habits / sets
