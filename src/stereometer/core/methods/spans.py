"""From characters to tokens: which tokens a span of text owns, and what two sentences share."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

from stereometer.core.types import Encode, Encoding, MaskedTokens, Skip

Span = tuple[int, int]


def scored_positions(encoding: Encoding) -> list[int]:
    """Every position that is not a special token."""
    return [index for index, word in enumerate(encoding.words) if word is not None]


def tokens_in(text: str, encoding: Encoding, spans: Sequence[Span]) -> list[int]:
    """The positions whose first non-space character lies in a span; a token across an edge skips
    the item."""
    positions = []
    for index in scored_positions(encoding):
        start, end = encoding.offsets[index]
        piece = text[start:end]
        start += len(piece) - len(piece.lstrip())
        for left, right in spans:
            if left <= start < right:
                if end > right and text[right:end].strip():
                    raise Skip("token-boundary")
                positions.append(index)
            elif start < left < end:
                raise Skip("token-boundary")
    return positions


def one_at_a_time(
    encoding: Encoding, positions: Sequence[int], within_word: bool = False
) -> MaskedTokens:
    """Pseudo-likelihood: each position hidden in its own copy; `within_word` hides the later pieces
    of its word that are scored too."""
    if not positions:
        raise Skip("no token to score")
    scored = frozenset(positions)
    steps = tuple(
        (_later_pieces(encoding, position, scored) if within_word else (position,), position)
        for position in positions
    )
    return MaskedTokens(encoding.ids, steps, encoding.segments)


def left_to_right(encoding: Encoding, positions: Sequence[int]) -> MaskedTokens:
    """Positions revealed from the left, those still to come hidden."""
    return MaskedTokens(
        encoding.ids,
        tuple((tuple(positions[at:]), position) for at, position in enumerate(positions)),
        encoding.segments,
    )


def _later_pieces(encoding: Encoding, position: int, scored: Collection[int]) -> tuple[int, ...]:
    """A position and the pieces after it in the same word of the same text; what is not scored is
    never hidden."""
    end = position + 1
    while (
        end < len(encoding.words)
        and encoding.words[end] is not None
        and encoding.words[end] == encoding.words[position]
    ):
        end += 1
    return tuple(at for at in range(position, end) if at in scored)


def shared_words(left: str, right: str) -> tuple[list[Span], list[Span]]:
    """The stretches of words that both sentences have, as character spans in each."""
    words_left, words_right = _words(left), _words(right)
    pairs = longest_common([left[a:b] for a, b in words_left], [right[a:b] for a, b in words_right])
    spans_left: list[Span] = []
    spans_right: list[Span] = []
    before = (-2, -2)
    for i, j in pairs:
        if (i - 1, j - 1) == before:
            spans_left[-1] = (spans_left[-1][0], words_left[i][1])
            spans_right[-1] = (spans_right[-1][0], words_right[j][1])
        else:
            spans_left.append(words_left[i])
            spans_right.append(words_right[j])
        before = (i, j)
    return spans_left, spans_right


def longest_common(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of a longest common subsequence: what both begin and end with, and the best of what
    is between.

    difflib would take the longest block first, which repeated words can put in the wrong place.
    """
    head = common_start(left, right)
    tail = common_start(left[head:][::-1], right[head:][::-1])
    inner = _between(left[head : len(left) - tail], right[head : len(right) - tail])
    ends = [(len(left) - at, len(right) - at) for at in range(tail, 0, -1)]
    return [*((at, at) for at in range(head)), *((head + i, head + j) for i, j in inner), *ends]


def common_start(left: Sequence[str], right: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )


ALIGNABLE = 4_000_000
"""Cells of the table below: two thousand words against two thousand."""


def _between(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    if len(left) * len(right) > ALIGNABLE:
        raise Skip("too long to align")
    best = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            best[i][j] = (
                best[i + 1][j + 1] + 1
                if left[i] == right[j]
                else max(best[i + 1][j], best[i][j + 1])
            )
    pairs, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _words(text: str) -> list[Span]:
    """Words with their apostrophes and hyphens, and single marks."""
    return [match.span() for match in re.finditer(r"\w+(?:['’\-]\w+)*|[^\w\s]", text)]


def shared_ids(left: Sequence[int], right: Sequence[int]) -> tuple[list[int], list[int]]:
    """The CrowS-Pairs script's way: difflib with its defaults over token ids written as strings,
    equal blocks kept."""
    matcher = SequenceMatcher(None, [str(block) for block in left], [str(block) for block in right])
    blocks = [codes for codes in matcher.get_opcodes() if codes[0] == "equal"]
    first = [position for _, a, b, _, _ in blocks for position in range(a, b)]
    second = [position for _, _, _, a, b in blocks for position in range(a, b)]
    return first, second


UNKNOWN_WORD = "has a word that the tokenizer does not know"
# Words that a tokenizer does not know get one and the same token: its score says nothing of any.
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
