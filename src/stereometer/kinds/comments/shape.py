"""Questions about comments as a shape."""

from collections.abc import Mapping
from typing import ClassVar

from stereometer.core.shapes.shape import Shape, metrics_beside
from stereometer.core.shapes.verdicts import LANGUAGE
from stereometer.core.types import Result, Score
from stereometer.kinds.comments import metrics, paired
from stereometer.kinds.comments.view import answered, first_tables


class CommentShape(Shape):
    """A comment, and what a model answered when asked about it."""

    name = "comment"
    noun = "question"
    slices = ("comment", "gold")
    principal = ("category",)
    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {"setting": (str,), "repeats": (int,)}
    shares_some = True
    summarize = staticmethod(metrics.summarize)
    metrics = metrics_beside(__file__, accuracy=LANGUAGE)
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
