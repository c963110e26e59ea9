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

from stereometer.core import types
from stereometer.core.asking.options import held
from stereometer.core.types.backend import ForTesting

VERSION = "1"
DIMENSIONS = 6
ANSWERED = (
    "masked-tokens causal-tokens masked-blank next-tokens span-vectors follows generate options"
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

    card = types.ModelCard(
        "fake",
        "masked and causal",
        f"fake@{VERSION}",
        "fake",
        "words",
        notes=("A fake model: its numbers mean nothing.",),
    )
    abilities = types.Abilities(
        frozenset(ANSWERED.split()),
        frozenset({types.WORD_MASSES, types.SET_DISTANCES}),
        mask="MASK",
    )

    def __init__(self, seed: int = 0) -> None:
        del seed  # deterministic

    def encode(self, text: str, second: str | None = None) -> types.Encoding:
        matches = list(re.finditer(r"\w+|[^\w\s]", text))
        ids = tuple(_checksum(match.group()) & 0xFFFF for match in matches)
        offsets, words = tuple(match.span() for match in matches), tuple(range(len(matches)))
        if second is None:
            return types.Encoding(ids, offsets, words)
        other = self.encode(second)
        parts = (0,) * len(ids) + (1,) * len(other.ids)
        return types.Encoding(
            ids + other.ids,
            offsets + other.offsets,
            words + other.words,
            parts,
            tuple(map(bool, parts)),
        )

    def answer(self, requests: Mapping[str, types.Request]) -> Iterator[tuple[str, types.Answer]]:
        return ((key, _answer(request)) for key, request in requests.items())


def _answer(request: types.Request) -> types.Answer:
    match request:
        case types.Generate():
            return types.Answer((), _written(request), "stop")
        case types.Options():
            return _weighed(request)
        case types.SpanVectors(ids, positions):
            return types.Answer(tuple({"vector": _vector(ids, at)} for at in positions))
        case types.MaskedBlank(ids, _, asked) | types.NextTokens(ids, asked):
            return types.Answer((_blank(ids, asked),))
        case types.Follows(first, second):
            odds = _checksum(f"{first}\n{second}") % 1000 / 100 - 5
            return types.Answer(({"logodds": array("d", [odds])},))
        case types.MaskedTokens(ids, steps):
            row = []
            for hidden, at in steps:
                near = {at - 1, at + 1}.intersection(range(len(ids))) - set(hidden)
                row.append(_logprob(ids[at], (ids[place] for place in near)))
        case types.CausalTokens(ids, start):
            row = [_logprob(ids[at], ids[max(0, at - 1) : at]) for at in range(start, len(ids))]
        case _:
            raise TypeError(f"fake does not answer {request.kind}")
    return types.Answer(({"logprob": array("d", row)},))


def _blank(ids: Iterable[int], asked: Iterable[int]) -> types.Row:
    """A mass of one half for every token, and distances of 0.01 to 0.89."""
    seen = sum(token for token in ids if token != types.HIDDEN)
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


def _weighed(request: types.Options) -> types.Answer:
    asked = f"{request.prompt}{request.messages}"
    weights = [1 + _checksum(types.digest_of([asked, option])) % 100 for option in request.options]
    return held([log(0.9 * weight / sum(weights)) for weight in weights])


def _written(request: types.Generate) -> str:
    """Numbers for numbered scales, an option, or yes or no; repeats differ at a temperature."""
    asked = f"{request.prompt}{request.messages}"
    drawn = types.digest_of([asked, request.repeat if request.temperature else 0])
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
