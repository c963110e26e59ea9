"""Pairs as questions: which of two sentences is likelier, in both orders, or each by itself."""

from __future__ import annotations

from collections.abc import Iterable

from stereometer.core.asking.forced_choice import Presentation, choice_method
from stereometer.core.asking.graded_choice import graded_method
from stereometer.core.asking.isolated_rating import rating_method
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.pairs import metrics


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """Without the confidence, which is of likelihoods."""
    estimates = metrics.summarize(scores, settings)
    return [one for one in estimates if one.name != "confidence_median_difference"]


SHOWN = Presentation(metrics.CANDIDATES, lambda item: item.texts, lambda item: None, summarize)
METHOD = choice_method("pair", SHOWN)
GRADED = graded_method("pair", SHOWN)
ISOLATED = rating_method("pair", SHOWN)
