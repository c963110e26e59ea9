"""Questions about comments as a shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from stereometer.core.shapes.shape import Metric, Shape
from stereometer.core.shapes.verdicts import LANGUAGE
from stereometer.core.types import Result, Score
from stereometer.kinds.comments import metrics, paired
from stereometer.kinds.comments.view import answers, first_tables


class CommentShape(Shape):
    """A comment, and what a model answered when asked about it."""

    name = "comment"
    noun = "question"
    slices = ("comment", "gold")
    principal = ("category",)
    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {"setting": (str,), "repeats": (int,)}
    shares_some = True
    summarize = staticmethod(metrics.summarize)
    metrics = (
        Metric(
            "accuracy",
            "accuracy",
            100.0,
            words=LANGUAGE,
            headline=True,
            about="The share of readable answers that are right, in percent.",
        ),
        Metric(
            "precision",
            "precision",
            100.0,
            headline=True,
            about="Of the comments called a category, the share that are of it.",
        ),
        Metric(
            "recall",
            "recall",
            100.0,
            headline=True,
            about="Of the comments of a category, the share called so.",
        ),
        Metric(
            "f1",
            "F1",
            100.0,
            headline=True,
            about=(
                "The harmonic mean of precision and recall; under `paper`, overall, as the study"
                " computed it."
            ),
        ),
        Metric(
            "repeat_agreement",
            "repeats agree",
            headline=True,
            about="How often two repeats of a question give the same answer.",
        ),
        Metric(
            "balanced_accuracy",
            "balanced accuracy",
            100.0,
            about="The mean of the recall of a category and of what is not of it.",
        ),
        Metric(
            "f1_harmonic",
            "F1, harmonic",
            100.0,
            about="The harmonic mean of overall precision and recall, beside the study's own F1.",
        ),
        *(
            Metric(f"{of}_sd", f"{of}, sd", about=f"Standard deviation of the {of} over repeats.")
            for of in ("accuracy", "precision", "recall")
        ),
        Metric("f1_sd", "F1, sd", about="Standard deviation of F1 over repeats."),
        Metric(
            "matches",
            "gold label alone",
            100.0,
            about=(
                "The share of answers that are the gold label and no other (mixed settings,"
                " `paper`)."
            ),
        ),
        Metric(
            "likelihood_accuracy",
            "likeliest label right",
            100.0,
            about="How often the likeliest label word is the right one.",
        ),
        Metric(
            "readings_agree",
            "readings agree",
            about="How often a written answer agrees with the likeliest label word.",
        ),
        Metric(
            "flipped",
            "turned by an edit",
            0.0,
            headline=True,
            about="The share of comments whose reading some misspelling changes, in percent.",
        ),
    )

    units = staticmethod(paired.units)
    differences = staticmethod(paired.differences)
    view = first_tables
    answered = staticmethod(answers)

    def is_whole(self, score: Score) -> bool:
        return all("text" in row and ("label" in row or "skipped" in row) for row in score.answers)

    def compared_as(self, result: Result) -> str:
        """Settings are compared with each other: they ask about the same comments."""
        return "recognition"


SHAPE = CommentShape()
