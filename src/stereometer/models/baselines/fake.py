"""A weightless model for tests and plugins: deterministic, instant, and easy to compute by hand.

The log-probability of a token is -(1 + (its id + the ids of its visible neighbours) % 97 / 10). A
causal token sees its left neighbour only; a token in a blank sees everything that is not hidden.
Token ids are the checksums of words. What it writes is one of the options in the prompt; options
that are asked for hold nine tenths of the probability, by checksums too.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from math import log
from zlib import crc32

from stereometer.core.asking.options import held
from stereometer.core.types import (
    HIDDEN,
    SET_DISTANCES,
    WORD_MASSES,
    Abilities,
    Answer,
    CausalTokens,
    Encoding,
    Follows,
    Generate,
    MaskedBlank,
    MaskedTokens,
    ModelCard,
    NextTokens,
    Options,
    Request,
    Row,
    SpanVectors,
    digest_of,
)
from stereometer.core.types.backend import ForTesting

VERSION = "1"
DIMENSIONS = 6
ANSWERED = (
    MaskedTokens,
    CausalTokens,
    Follows,
    Generate,
    Options,
    MaskedBlank,
    NextTokens,
    SpanVectors,
)


LABELLED = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (r"^([A-Z])\.", r"^Option ([A-Z]):", r"^(\w+) sentence:", r"^([123])\. ")
)
"""How options are labelled."""
SCALES = re.compile(r"(?m)^(\d+)\. .*\b0\b.*\b100\b")
"""Numbered lines that name both ends of a scale."""
RATED = re.compile(r"from 1\b[^.]* to 7\b|: 1 (?:is|if) |\? 1 means ")


class Fake(ForTesting):
    """`--model fake`: answers requests made of token ids, next-sentence questions and prompts."""

    card = ModelCard(
        "fake",
        "masked and causal",
        f"fake@{VERSION}",
        "fake",
        "words",
        notes=("A fake model: its numbers mean nothing.",),
    )
    abilities = Abilities(
        frozenset(request.kind for request in ANSWERED),
        frozenset({WORD_MASSES, SET_DISTANCES}),
        mask="MASK",
    )

    def __init__(self, seed: int = 0) -> None:
        del seed  # deterministic

    def encode(self, text: str, second: str | None = None) -> Encoding:
        matches = list(re.finditer(r"\w+|[^\w\s]", text))
        ids = tuple(_checksum(match.group()) & 0xFFFF for match in matches)
        offsets, words = tuple(match.span() for match in matches), tuple(range(len(matches)))
        if second is None:
            return Encoding(ids, offsets, words)
        other = self.encode(second)
        parts = (0,) * len(ids) + (1,) * len(other.ids)
        return Encoding(
            ids + other.ids,
            offsets + other.offsets,
            words + other.words,
            parts,
            tuple(map(bool, parts)),
        )

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        return ((key, _answer(request)) for key, request in requests.items())


def _answer(request: Request) -> Answer:
    match request:
        case Generate():
            return Answer((), _written(request), "stop")
        case Options():
            return _weighed(request)
        case SpanVectors(ids, positions):
            return Answer(tuple({"vector": _vector(ids, at)} for at in positions))
        case MaskedBlank(ids, _, asked) | NextTokens(ids, asked):
            return Answer((_blank(sum(token for token in ids if token != HIDDEN), asked),))
        case Follows(first, second):
            return Answer(
                ({"logodds": array("d", [_checksum(f"{first}\n{second}") % 1000 / 100 - 5])},)
            )
        case MaskedTokens(ids, steps):
            row = [
                _logprob(
                    ids[at],
                    (
                        ids[near]
                        for near in (at - 1, at + 1)
                        if 0 <= near < len(ids) and near not in hidden
                    ),
                )
                for hidden, at in steps
            ]
        case CausalTokens(ids, start):
            row = [_logprob(ids[at], ids[max(0, at - 1) : at]) for at in range(start, len(ids))]
        case _:
            raise TypeError(f"fake does not answer {request.kind}")
    return Answer(({"logprob": array("d", row)},))


def _blank(seen: int, asked: Iterable[int]) -> Row:
    """A mass of one half for every token, and distances of 0.01 to 0.89."""
    sums = [token + seen for token in asked]
    return {
        "logprob": array("d", [_logprob(total, ()) for total in sums]),
        "logmass": array("d", [-0.7] * len(sums)),
        "distance": array("d", [(1 + total % 89) / 100 for total in sums]),
    }


def _vector(ids: tuple[int, ...], at: int) -> array[float]:
    """From checksums of all ids."""
    numbers = (_checksum(f"{ids}{at}{dimension}") for dimension in range(DIMENSIONS))
    return array("d", [number % 2001 / 1000 - 1 for number in numbers])


def _weighed(request: Options) -> Answer:
    asked = f"{request.prompt}{request.messages}"
    weights = [1 + _checksum(digest_of([asked, option])) % 100 for option in request.options]
    return held([log(0.9 * weight / sum(weights)) for weight in weights])


def _written(request: Generate) -> str:
    """A number for each numbered scale in the prompt, one of its options, or yes or no; repeats
    differ at a temperature."""
    asked = f"{request.prompt}{request.messages}"
    drawn = digest_of([asked, request.repeat if request.temperature else 0])
    lines = asked.replace("\\n", "\n")
    if scales := SCALES.findall(lines):
        return "\n".join(f"{at}: {_checksum(drawn + at) % 101}" for at in scales)
    found = (match.findall(lines) for match in LABELLED)
    others = list("1234567") if RATED.search(lines) else ["yes", "no"]
    options: list[str] = next((labels for labels in found if labels), others)
    return options[int(drawn[:8], 16) % len(options)]


def _logprob(token: int, seen: Iterable[int]) -> float:
    return -(1 + (token + sum(seen)) % 97 / 10)


def _checksum(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))
