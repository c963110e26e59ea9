"""Profiles of groups from sentences of a text: what draws of sentences show, and what words show.

A cell has an effect and the middle of its draws, and no test: its poles have two or three words,
which no exchange tells from chance. A dimension is tested over all words of its poles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from stereometer.shapes.trait import metrics
from stereometer.stats.intervals import Floats, generator
from stereometer.stats.tests import exchange_p, least_p
from stereometer.types import Estimate, Score, Settings

POLES = ("left", "right")
MIDDLE = "middle of the draws of sentences"
NO_INTERVAL = "none: a dimension has only a test"
EXCHANGED = "all words of the dimension exchanged between its poles"
TOO_FEW = "none: too few words for a test"
Place = tuple[str, str]
"""A group, and a trait or dimension."""


@dataclass
class Nearness:
    """What scores hold beside effects."""

    draws: dict[Place, Mapping[str, float]] = field(default_factory=dict)
    words: dict[Place, dict[str, dict[str, float]]] = field(default_factory=dict)
    """How near each word of each pole is, by group and dimension: one that stands in several traits
    is one word."""

    def seen(self, scores: Iterable[Score]) -> Iterator[Score]:
        for score in scores:
            if score.skipped is None:
                group = score.slices["group"]
                self.draws[group, score.slices["trait"]] = score.derived
                poles = self.words.setdefault((group, score.slices["dimension"]), {})
                for name, value in score.derived.items():
                    pole, _, word = name.partition("/")
                    if word:
                        poles.setdefault(pole, {})[word] = value
            yield score

    def poles(self, place: Place) -> tuple[Floats, Floats] | None:
        """None of scores that do not hold words of both poles."""
        words = self.words.get(place, {})
        if not words.keys() >= set(POLES):
            return None
        left, right = (np.array(list(words[pole].values())) for pole in POLES)
        return left, right


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """As for templates; intervals are of draws of sentences, p of words."""
    nearness = Nearness()
    estimates = metrics.summarize(nearness.seen(scores), settings)
    return metrics.judged(
        [_of_text(estimate, nearness, settings) for estimate in estimates], settings.level
    )


def _of_text(estimate: Estimate, nearness: Nearness, settings: Settings) -> Estimate:
    if estimate.value is None or "group" not in estimate.slice:
        return estimate
    group = estimate.slice["group"]
    if "trait" in estimate.slice:
        drawn = nearness.draws[group, estimate.slice["trait"]]
        low, high = drawn["low"], drawn["high"]
        return replace(estimate, low=low, high=high, interval=MIDDLE, p=None, test=None, free=None)
    poles = nearness.poles((group, estimate.slice["dimension"]))
    if poles is None:
        return estimate
    least = least_p(*map(len, poles))
    if least >= 1 - settings.level:
        why = f"{TOO_FEW}: with {len(poles[0])} and {len(poles[1])} p cannot fall below {least:.2g}"
        return replace(estimate, low=None, high=None, p=None, test=None, free=None, interval=why)
    p = exchange_p(*poles, generator(settings.seed, estimate.slice, "words"))
    return replace(estimate, p=p, test=EXCHANGED, free=None, interval=NO_INTERVAL)
