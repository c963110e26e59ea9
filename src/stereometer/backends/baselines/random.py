"""RandomLM (Nadeem et al. 2021, section 5.3): a seeded coin for every text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256

from stereometer.backends.text_scores import TextScores
from stereometer.types import Abilities, Continuation, Follows, ModelCard, Request, WholeText

VERSION = "1"


class Random(TextScores):
    """`--model random`: a number drawn from the seed and the text, whatever the order of asking."""

    abilities = Abilities(frozenset({WholeText.kind, Continuation.kind, Follows.kind}))

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        note = "RandomLM: a baseline whose scores are drawn at random."
        self.card = ModelCard(
            "random",
            "baseline",
            f"random@{VERSION}",
            f"seed-{seed}",
            settings={"seed": seed},
            notes=(note,),
        )

    def numbers(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, float]]:
        for key in requests:
            digest = sha256(f"{self.seed}:{key}".encode()).digest()
            yield key, -10 * (int.from_bytes(digest[:8], "big") + 1) / 2**64
