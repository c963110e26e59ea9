"""Profiles of groups from ratings that a model gave on a survey's scales."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stereometer.shapes.coverage import Coverage
from stereometer.shapes.trait import metrics
from stereometer.types import Estimate, Score, Settings

MIDDLE = 50.0


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """As for templates, a repeat being one; and where answers lie before poles are turned back."""
    every = list(scores)
    answered: dict[str, list[float]] = {}
    coverage = Coverage()
    for score in every:
        coverage.add(score)
        if score.skipped is None:
            answered.setdefault(score.slices["template"], []).append(score.derived["answered"])
    lean = metrics.estimate("answered_mean", {}, answered, coverage, settings)
    return [*metrics.summarize(every, settings), replace(lean, ideal=MIDDLE, p=None)]
