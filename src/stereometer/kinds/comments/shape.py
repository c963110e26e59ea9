"""Questions about comments as a shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from stereometer.core.shapes.shape import Metric, Shape
from stereometer.core.shapes.verdicts import LANGUAGE
from stereometer.core.types import Result, Score
from stereometer.kinds.comments import metrics, paired
from stereometer.kinds.comments.view import answered, first_tables

METRICS = (
    ("accuracy", "accuracy", 100.0, True),
    ("precision", "precision", 100.0, True),
    ("recall", "recall", 100.0, True),
    ("f1", "F1", 100.0, True),
    ("repeat_agreement", "repeats agree", None, True),
    ("balanced_accuracy", "balanced accuracy", 100.0, False),
    ("f1_harmonic", "F1, harmonic", 100.0, False),
    ("accuracy_sd", "accuracy, sd", None, False),
    ("precision_sd", "precision, sd", None, False),
    ("recall_sd", "recall, sd", None, False),
    ("f1_sd", "F1, sd", None, False),
    ("matches", "gold label alone", 100.0, False),
    ("likelihood_accuracy", "likeliest label right", 100.0, False),
    ("readings_agree", "readings agree", None, False),
    ("flipped", "turned by an edit", 0.0, True),
)
"""Name, label, ideal, and whether it stands in the first table."""
ABOUT = {
    "accuracy": "The share of readable answers that are right, in percent.",
    "precision": "Of the comments called a category, the share that are of it.",
    "recall": "Of the comments of a category, the share called so.",
    "f1": "The harmonic mean of precision and recall; under `paper`, overall, the study's own.",
    "repeat_agreement": "How often two repeats of a question give the same answer.",
    "balanced_accuracy": "The mean of the recall of a category and of what is not of it.",
    "f1_harmonic": "The harmonic mean of overall precision and recall, beside the study's own F1.",
    "accuracy_sd": "Standard deviation of the accuracy over repeats.",
    "precision_sd": "Standard deviation of the precision over repeats.",
    "recall_sd": "Standard deviation of the recall over repeats.",
    "f1_sd": "Standard deviation of F1 over repeats.",
    "matches": "The share of answers that are the gold label and no other, in mixed settings.",
    "likelihood_accuracy": "How often the likeliest label word is the right one.",
    "readings_agree": "How often a written answer agrees with the likeliest label word.",
    "flipped": "The share of comments whose reading some misspelling changes, in percent.",
}


class CommentShape(Shape):
    """A comment, and what a model answered when asked about it."""

    name = "comment"
    noun = "question"
    slices = ("comment", "gold")
    principal = ("category",)
    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {"setting": (str,), "repeats": (int,)}
    shares_some = True
    summarize = staticmethod(metrics.summarize)
    metrics = tuple(
        Metric(
            name,
            label,
            ideal,
            words=LANGUAGE if name == "accuracy" else None,
            headline=is_headline,
            about=ABOUT[name],
        )
        for name, label, ideal, is_headline in METRICS
    )

    units = staticmethod(paired.units)
    differences = staticmethod(paired.differences)
    view = first_tables
    answered = staticmethod(answered)

    def is_whole(self, score: Score) -> bool:
        return all("text" in row and ("label" in row or "skipped" in row) for row in score.answers)

    def compared_as(self, result: Result) -> str:
        """Settings are compared with each other: they ask about the same comments."""
        return "recognition"


SHAPE = CommentShape()
