"""Whether a text has a word of an attribute's lists."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stereometer.shapes.words import words_of


class Lists:
    """Words, or a few words in a row, as a card keeps them."""

    def __init__(self, words: Iterable[str]) -> None:
        known = sorted({" ".join(words_of(word)) for word in words} - {""}, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, known))
        self._pattern = re.compile(rf"(?<!\S)(?:{alternatives})(?!\S)") if known else None

    def touch(self, texts: Iterable[str]) -> bool:
        """Whether any of the texts has one; case does not matter, parts of words do not count."""
        pattern = self._pattern
        return pattern is not None and any(
            pattern.search(" ".join(words_of(text))) for text in texts
        )
