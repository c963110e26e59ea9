"""The view of answers in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.core.results_view import results
from stereometer.core.show.view import View

if TYPE_CHECKING:
    from stereometer.wings.asking.ask import AnswersInWords


def answers(made: AnswersInWords, slices: bool = False) -> View:
    """Results with what was answered; forced choice beside the likelihoods, if asked for."""
    parts: list[View] = []
    for result, answered in zip(made, made.answered, strict=True):
        parts += [results([result], slices), *([] if answered is None else [answered.view])]
    return View(parts=(*parts, *(each.view() for each in made.calibrations)))
