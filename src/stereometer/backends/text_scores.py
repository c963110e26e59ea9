"""Backends that give a whole text one number: the baselines and sentiment classifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Mapping

from stereometer.types import Answer, Encoding, Follows, Request


class TextScores(ABC):
    """A model without token ids."""

    def encode(self, text: str, second: str | None = None) -> Encoding:
        raise TypeError(f"{type(self).__name__} reads text, not tokens")

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, value in self.numbers(requests):
            column = "logodds" if isinstance(requests[key], Follows) else "logprob"
            yield key, Answer(({column: array("d", [value])},))

    @abstractmethod
    def numbers(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, float]]:
        """One number per request, by its key."""


def judged_text(request: Request) -> str:
    """The text that is judged, without its context."""
    return request.second if isinstance(request, Follows) else getattr(request, "text", "")
