"""SentimentLM (Nadeem et al. 2021, section 5.3): prefers what sounds more negative."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import version
from typing import Any

from stereometer.backends.text_scores import TextScores, judged_text
from stereometer.errors import ModelError
from stereometer.types import Abilities, Follows, ModelCard, Request, WholeText

VERSION = "1"


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
            "sentiment", "baseline", f"sentiment@{VERSION}", f"vader-{released}", notes=(note,)
        )

    @cached_property
    def _vader(self) -> Any:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        return SentimentIntensityAnalyzer()

    def numbers(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, float]]:
        for key, request in requests.items():
            yield key, -self._vader.polarity_scores(judged_text(request))["compound"]
