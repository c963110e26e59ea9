"""Whether a text has a word of an attribute's lists."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stereometer.shapes.sentences import words_of


def plain(text: str) -> str:
    """The words alone: case, spaces and marks make no other sentence."""
    return " ".join(words_of(text))


class Lists:
    """Words, or a few in a row, as a card keeps them, wherever counterfactuals change them: in
    `woman's` and `he'll` too, not in `he-man`."""

    def __init__(self, words: Iterable[str]) -> None:
        known = sorted({" ".join(word.split()) for word in words} - {""}, key=len, reverse=True)
        alternatives = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in known) or "(?!)"
        self._pattern = re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.IGNORECASE)

    def touch(self, texts: Iterable[str]) -> bool:
        """Whether any of the texts has one; parts of words do not count."""
        return any(self._pattern.search(text) for text in texts)
