"""Words that a tokenizer does not know: it gives all of them the same token, whose score would say
nothing of any."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.measures.spans import Span, scored_positions
from stereometer.types import Encode, Encoding, Skip

UNKNOWN_WORD = "has a word that the tokenizer does not know"
STRANGE = ("\U00010600", "\U00012000")
"""A sign of Linear A and one of cuneiform: told apart by tokenizers that spell everything, and by
no others."""


def unknown_token(encode: Encode) -> int | None:
    """The token for what is not known; None for a tokenizer that knows everything."""
    try:
        first, second = (encode(sign) for sign in STRANGE)
    except Skip:
        return None
    scored = scored_positions(first)
    return first.ids[scored[-1]] if scored and first.ids == second.ids else None


def check_known(encoding: Encoding, spans: Sequence[Span], unknown: int | None) -> None:
    """Raises Skip where the token for what is not known stands in one of the spans."""
    for at in scored_positions(encoding):
        start, end = encoding.offsets[at]
        if encoding.ids[at] == unknown and any(
            start < right and left < end for left, right in spans
        ):
            raise Skip(UNKNOWN_WORD)
