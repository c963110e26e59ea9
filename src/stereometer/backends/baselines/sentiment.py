"""SentimentLM (Nadeem et al. 2021, section 5.3): prefers the candidate with the more negative sentiment (VADER)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import version
from typing import Any

from stereometer.errors import ModelError
from stereometer.types import Answer, Encoding, Follows, ModelCard, Request, WholeText

VERSION = "1"


class Sentiment:
    """`--model sentiment`: minus VADER's compound score of the text; it does not look at the context."""

    supports = frozenset({WholeText.kind, Follows.kind})

    def __init__(self, seed: int = 0) -> None:
        del seed  # deterministic
        try:
            released = version("vaderSentiment")
        except ModuleNotFoundError:
            raise ModelError(
                "The sentiment baseline needs vaderSentiment. It is in an optional part of the package. From a clone: `pip install '.[lexicon]'`."
            ) from None
        note = "SentimentLM: a baseline that prefers what sounds more negative."
        self.card = ModelCard(
            "sentiment", "baseline", f"sentiment@{VERSION}", f"vader-{released}", notes=(note,)
        )

    @cached_property
    def _vader(self) -> Any:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        return SentimentIntensityAnalyzer()

    def encode(self, text: str, second: str | None = None) -> Encoding:
        raise TypeError("sentiment reads text")

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            text, column = (
                (request.second, "logodds")
                if isinstance(request, Follows)
                else (getattr(request, "text", ""), "logprob")
            )
            yield (
                key,
                Answer(({column: array("d", [-self._vader.polarity_scores(text)["compound"]])},)),
            )
