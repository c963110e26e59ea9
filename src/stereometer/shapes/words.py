"""The words of a text, and names written without what spellings differ in."""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def words_of(text: str) -> list[str]:
    """In lower case; digits and marks are no words."""
    return WORD.findall(text.lower().replace("’", "'"))


def plain_name(name: str) -> str:
    """Without case, and with a single space for white space, underscores, hyphens and slashes."""
    return re.sub(r"[\s_/–—-]+", " ", name.casefold()).strip()
