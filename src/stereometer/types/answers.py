"""What a model gives back: rows of numbers or a text; and a text as its tokenizer sees it."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Row: TypeAlias = Mapping[str, "array[float]"]
"""One span: named columns (`logprob`, `logodds`), one entry per token."""


@dataclass(frozen=True)
class Answer:
    """Rows, never sums: how they are reduced is the measure's business. What a model wrote stands
    beside them."""

    rows: tuple[Row, ...]
    text: str | None = None
    """What was written, where something was to be; of a text that was scored, its first token where
    that has no number."""
    end: str = ""
    """Why the writing ended: `stop`, `length`, or one of UNWRITTEN."""
    kept: bool = True
    """Whether it belongs into the cache; not where something failed that may work another time."""

    def column(self, name: str) -> array[float]:
        """The column of the only row, for the requests that have one span."""
        (row,) = self.rows
        return row[name]


TOO_LONG, FILTERED, BOUNDARY = "longer than the model's window", "refused", "token-boundary"
NOT_FINITE = "a score is not a finite number"
UNWRITTEN = (TOO_LONG, FILTERED)
"""Ends of an answer that has no text of the model: the prompt did not fit, or a filter held the
text back."""


@dataclass(frozen=True)
class Encoding:
    """A text as a model's tokenizer sees it."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    """Characters of the text each token stands for; (0, 0) for special tokens."""
    words: tuple[int | None, ...]
    """The word each token belongs to; None for special tokens."""
    segments: tuple[int, ...] = ()
    """0 for the first of two texts, 1 for the second, as the model is told; empty for a single
    text."""
    second: tuple[bool, ...] = ()
    """Whether a token is of the second of two texts; empty for a single text."""


class Encode(Protocol):
    """A backend's `encode`: one text, or two as the model was taught to read two."""

    def __call__(self, text: str, second: str | None = None) -> Encoding: ...
