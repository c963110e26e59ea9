"""RandomLM (Nadeem et al. 2021, section 5.3): a seeded coin for every text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from hashlib import sha256

from stereometer.types import Answer, Continuation, Encoding, Follows, ModelCard, Request, WholeText

VERSION = "1"


class Random:
    """`--model random`: a number drawn from the seed and the text, the same whatever the order of asking."""

    supports = frozenset({WholeText.kind, Continuation.kind, Follows.kind})

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        note = "RandomLM: a baseline whose scores are drawn by lot."
        self.card = ModelCard(
            "random",
            "baseline",
            f"random@{VERSION}",
            f"seed-{seed}",
            settings={"seed": seed},
            notes=(note,),
        )

    def encode(self, text: str, second: str | None = None) -> Encoding:
        raise TypeError("random reads text")

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            column = "logodds" if isinstance(request, Follows) else "logprob"
            yield key, Answer(({column: array("d", [self._draw(key)])},))

    def _draw(self, key: str) -> float:
        drawn = int.from_bytes(sha256(f"{self.seed}:{key}".encode()).digest()[:8], "big")
        return -10 * (drawn + 1) / 2**64
