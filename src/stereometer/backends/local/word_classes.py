"""Which tokens of a vocabulary begin a word and which go on with one, by the tokenizer's marks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stereometer.backends.local.tokens import BYTE_LEVEL_SPACE

INITIAL, INSIDE, NEITHER = 0, 1, 2
NAMED = {"initial": INITIAL, "inside": INSIDE}


def word_classes(
    tokenizer: Any, vocabulary: int, with_special: bool = False
) -> NDArray[np.int64] | None:
    """The class of each token; None where words are not marked.

    WordPiece marks what goes on with a word, other vocabularies what comes after a space. Special
    tokens are NEITHER, or (`with_special`) what they are by their lack of a mark.
    """
    parts = json.loads(tokenizer.backend_tokenizer.to_str())
    inside = parts["model"].get("continuing_subword_prefix") or ""
    space = next(_spaces(parts), "") if not inside else ""
    if not inside and not space:
        return None
    classes = np.full(vocabulary, NEITHER, dtype=np.int64)
    left = frozenset() if with_special else _special(tokenizer)
    for token, number in tokenizer.get_vocab().items():
        if number < vocabulary and number not in left:
            goes_on = token.startswith(inside) if inside else not token.startswith(space)
            classes[number] = INSIDE if goes_on else INITIAL
    return classes


def _special(tokenizer: Any) -> frozenset[int]:
    added = tokenizer.added_tokens_decoder.items()
    return frozenset(
        (*tokenizer.all_special_ids, *(number for number, token in added if token.special))
    )


def _spaces(value: Any) -> Iterator[str]:
    """How a space is written in the vocabulary, by the tokenizer's own description."""
    if isinstance(value, list):
        for part in value:
            yield from _spaces(part)
    elif isinstance(value, dict):
        kind = value.get("type")
        if kind == "ByteLevel":
            yield BYTE_LEVEL_SPACE
        elif kind == "Metaspace":
            yield str(value.get("replacement", ""))
        elif kind == "Replace" and value.get("pattern") == {"String": " "} and value.get("content"):
            yield str(value["content"])
        for name in ("normalizer", "pre_tokenizer", "pretokenizers", "normalizers"):
            yield from _spaces(value.get(name))
