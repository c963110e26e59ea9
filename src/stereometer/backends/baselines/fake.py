"""A weightless model for tests and plugins: deterministic, instant, and simple enough to compute by hand.

The log-probability of a token is -(1 + (its id + the ids of its visible neighbours) % 97 / 10). A causal token sees
its left neighbour only. Token ids are the checksums of words. What it writes is one of the options in the prompt.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping
from zlib import crc32

from stereometer.backends.baselines import fake_blanks
from stereometer.types import (
    Answer,
    CausalTokens,
    Encoding,
    Follows,
    Generate,
    MaskedTokens,
    ModelCard,
    Request,
    digest_of,
)

VERSION = "1"


class Fake:
    """`--model fake`: answers every kind of request made of token ids, next-sentence questions, and questions in words."""

    card = ModelCard(
        "fake",
        "masked and causal",
        f"fake@{VERSION}",
        "fake",
        "words",
        notes=("A fake model: its numbers mean nothing.",),
    )
    supports = fake_blanks.SUPPORTS | frozenset(
        {MaskedTokens.kind, CausalTokens.kind, Follows.kind, Generate.kind}
    )

    def __init__(self, seed: int = 0) -> None:
        del seed  # deterministic

    mask_text = "MASK"

    def encode(self, text: str, second: str | None = None) -> Encoding:
        spans = [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]
        ids = tuple(
            crc32(text[start:end].encode("utf-8", "surrogatepass")) & 0xFFFF for start, end in spans
        )
        words = tuple(range(len(spans)))
        if second is None:
            return Encoding(ids, tuple(spans), words)
        other = self.encode(second)
        parts = (0,) * len(ids) + (1,) * len(other.ids)
        return Encoding(
            ids + other.ids,
            tuple(spans) + other.offsets,
            words + other.words,
            parts,
            tuple(part == 1 for part in parts),
        )

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            if isinstance(request, fake_blanks.Asked):
                yield key, fake_blanks.blank_answer(request)
                continue
            if isinstance(request, Generate):
                yield key, Answer((), _said(request), "stop")
                continue
            yield (
                key,
                Answer(
                    (
                        {
                            "logodds" if isinstance(request, Follows) else "logprob": array(
                                "d", _row(request)
                            )
                        },
                    )
                ),
            )


def _row(request: Request) -> list[float]:
    match request:
        case MaskedTokens(ids, steps):
            return [
                _logprob(
                    ids[at],
                    [
                        ids[near]
                        for near in (at - 1, at + 1)
                        if 0 <= near < len(ids) and near not in hidden
                    ],
                )
                for hidden, at in steps
            ]
        case CausalTokens(ids, start):
            return [
                _logprob(ids[at], list(ids[max(0, at - 1) : at])) for at in range(start, len(ids))
            ]
        case Follows(first, second):
            return [(crc32(f"{first}\n{second}".encode("utf-8", "surrogatepass")) % 1000) / 100 - 5]
    raise TypeError(f"fake does not answer {request.kind}")


def _said(request: Generate) -> str:
    """One of the lettered options in the prompt, or yes or no, by digest; the repeat counts where there is a temperature."""
    asked = f"{request.prompt}{request.messages}"
    options: list[str] = (
        re.findall(r"(?m)^([A-Z])\.", asked) or re.findall(r"\\n([A-Z])\.", asked) or ["yes", "no"]
    )
    drawn = digest_of([asked, request.repeat if request.temperature else 0])
    return options[int(drawn[:8], 16) % len(options)]


def _logprob(token: int, seen: list[int]) -> float:
    return -(1 + (token + sum(seen)) % 97 / 10)
