"""Profiles of groups from ratings that a model gave on a survey's scales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from stereometer.shapes.points import Coverage
from stereometer.shapes.trait import metrics
from stereometer.types import Estimate, Score, Settings

MIDDLE = 50.0
REPEATS, PAIRS = "repeats", "repeat pairs"
ONE_FAMILY = (("trait", "dimension"),)


def _place(score: Score) -> tuple[str, str, str]:
    """Of which group, trait and two repeats a score is, the first repeat being number 1."""
    pair = (int(score.slices["template"].rpartition("-")[2]) - 1) // 2
    return score.slices["group"], score.slices["trait"], str(pair)


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """As for templates, one being two repeats that exchange each other's poles; and where answers
    lie before poles are turned back."""
    every = list(scores)
    answered: dict[str, list[float]] = {}
    coverage = Coverage()
    for score in every:
        coverage.add(score)
        if score.skipped is None:
            answered.setdefault(score.slices["template"], []).append(score.derived["answered"])
    lean = metrics.estimate("answered_mean", {}, answered, coverage, settings, REPEATS)
    lean = replace(lean, ideal=MIDDLE, p=None, test=None, free=None)
    both = Counter(_place(score) for score in every if score.skipped is None)
    whole = min(2, len({score.slices["template"] for score in every}))

    def pair(score: Score) -> str | None:
        """None of an answer whose counterpart is missing: a liking for one end would stay in."""
        return _place(score)[2] if both[_place(score)] == whole else None

    return [*metrics.summarize(every, settings, PAIRS, pair, ONE_FAMILY), lean]
