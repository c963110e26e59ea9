"""Whether a text has a word of an attribute's lists."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stereometer.shapes.words import words_of


def plain(text: str) -> str:
    """The words alone: case, spaces and marks make no other sentence."""
    return " ".join(words_of(text))


class Lists:
    """Words, or a few words in a row, as a card keeps them."""

    def __init__(self, words: Iterable[str]) -> None:
        known = sorted(set(map(plain, words)) - {""}, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, known)) or "(?!)"
        self._pattern = re.compile(rf"(?<!\S)(?:{alternatives})(?!\S)")

    def touch(self, texts: Iterable[str]) -> bool:
        """Whether any of the texts, which are plain, has one; parts of words do not count."""
        return any(self._pattern.search(text) for text in texts)
