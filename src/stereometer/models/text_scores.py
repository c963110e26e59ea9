"""Backends that give a whole text one number, such as those of Nadeem et al. 2021, section 5.3."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.core.types import (
    Abilities,
    Answer,
    Continuation,
    Encoding,
    Follows,
    ModelCard,
    Request,
    WholeText,
)


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


# ----------------------------------------------------------- RandomLM: a seeded coin for every text


class Random(TextScores):
    """`--model random`: a number drawn from the seed and the text, whatever the order of asking."""

    abilities = Abilities(frozenset({WholeText.kind, Continuation.kind, Follows.kind}))

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        note = "RandomLM: a baseline whose scores are drawn at random."
        self.card = ModelCard(
            "random",
            "baseline",
            "random@1",
            f"seed-{seed}",
            settings={"seed": seed},
            notes=(note,),
        )

    def numbers(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, float]]:
        for key in requests:
            digest = sha256(f"{self.seed}:{key}".encode()).digest()
            yield key, -10 * (int.from_bytes(digest[:8], "big") + 1) / 2**64


# --------------------------------------------------- SentimentLM: prefers what sounds more negative


class Sentiment(TextScores):
    """`--model sentiment`: minus VADER's compound score of the text, without its context."""

    abilities = Abilities(frozenset({WholeText.kind, Follows.kind}))

    def __init__(self, seed: int = 0) -> None:
        del seed  # deterministic
        try:
            released = version("vaderSentiment")
        except ModuleNotFoundError:
            raise ModelError(
                "The sentiment baseline needs vaderSentiment. It is in the optional part `lexicon` "
                "of the package. From a clone: `pip install '.[lexicon]'`."
            ) from None
        note = "SentimentLM: a baseline that prefers what sounds more negative."
        self.card = ModelCard(
            "sentiment", "baseline", "sentiment@1", f"vader-{released}", notes=(note,)
        )

    @cached_property
    def _vader(self) -> Any:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        return SentimentIntensityAnalyzer()

    def numbers(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, float]]:
        for key, request in requests.items():
            yield key, -self._vader.polarity_scores(judged_text(request))["compound"]
