"""The fake model's answers to blanks: by hand, like all its answers."""

from __future__ import annotations

from array import array
from zlib import crc32

from stereometer.types import (
    HIDDEN,
    SET_DISTANCES,
    WORD_MASSES,
    Answer,
    MaskedBlank,
    NextTokens,
    SpanVectors,
)

SUPPORTS = frozenset(
    {MaskedBlank.kind, NextTokens.kind, SpanVectors.kind, WORD_MASSES, SET_DISTANCES}
)
Asked = MaskedBlank | NextTokens | SpanVectors
DIMENSIONS = 6


def blank_answer(request: Asked) -> Answer:
    """Log-probabilities of a token and all that is visible; a mass of one half; distances of 0.01 to 0.89; vectors from checksums of all ids."""
    match request:
        case SpanVectors(ids, positions):
            return Answer(tuple({"vector": _vector(ids, at)} for at in positions))
        case MaskedBlank(ids, _, asked) | NextTokens(ids, asked):
            seen = sum(one for one in ids if one != HIDDEN)
    sums = [token + seen for token in asked]
    return Answer(
        (
            {
                "logprob": array("d", [-(1 + one % 97 / 10) for one in sums]),
                "logmass": array("d", [-0.7] * len(sums)),
                "distance": array("d", [(1 + one % 89) / 100 for one in sums]),
            },
        )
    )


def _vector(ids: tuple[int, ...], at: int) -> array[float]:
    return array(
        "d",
        [
            crc32(f"{ids}{at}{dimension}".encode()) % 2001 / 1000 - 1
            for dimension in range(DIMENSIONS)
        ],
    )
