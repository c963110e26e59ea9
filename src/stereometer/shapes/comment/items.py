"""Comments with the categories that people saw in them: the items of recognition by prompting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from stereometer.errors import DataError
from stereometer.files import finite
from stereometer.types import ItemDefaults, Slice, digest_of

NEITHER = "neither"
"""The label of a comment of no category."""
SEPARATOR = "\n"
"""Between the labels of an answer that names several."""
UNNAMED = "(no label)"
"""What `paper` reads an answer as that names no label, in the mixed settings."""


@dataclass(frozen=True)
class Comment(ItemDefaults):
    """A text, how far people saw each category in it, and its place in the file."""

    shape: ClassVar[str] = "comment"
    id: str
    text: str
    scores: Mapping[str, float]
    """By category column, in [0, 1]: the share of annotators, or 1 for a label."""
    row: int
    """In the file that its scores are from, counted from 1."""
    hate: float | None = None
    """How far people saw anything hateful, where the data say; 0 is what nobody called so."""

    @property
    def slices(self) -> Slice:
        return {}

    @property
    def texts(self) -> Mapping[str, str]:
        """The text, and the scores as they are digested."""
        scores = {name: f"{value:.6g}" for name, value in self.scores.items() if value}
        return {
            "comment": self.text,
            "scores": str(sorted(scores.items())),
            "hate": "" if self.hate is None else f"{self.hate:.6g}",
        }

    @property
    def digest(self) -> str:
        """Names the comment where its text must not be shown."""
        return digest_of(self.text)[:12]


def share(value: object, where: str) -> float:
    number = finite(value, where)
    if not 0 <= number <= 1:
        raise DataError(
            f"{where}: {number:g} is not between 0 and 1. It is a share of annotators. Fix that "
            "row."
        )
    return number


def categories_of(comments: Sequence[Comment]) -> list[str]:
    """Every category that occurs, by name."""
    return sorted(
        {name for comment in comments for name, score in comment.scores.items() if score > 0}
    )
