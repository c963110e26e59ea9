"""The English article before a word: `an African city`, `a European city`."""

from __future__ import annotations

import re

BEFORE = re.compile(r"(?<![\w'’-])(an?)(\s+)$", re.IGNORECASE)
"""An article right before a place in a text."""
VOWEL = re.compile(
    r"""(?! eu | ewe | on(?:e|ce)\b | u(?: ni(?![mn]) | [kt] | [sr][aeiu] | ga | y ) )  # a European
        [aeiou]
        | h(?: eir | our | onest | onou?r )  # an heiress""",
    re.IGNORECASE | re.VERBOSE,
)
"""The beginnings of words that are spoken with a vowel first, as far as spelling tells."""


def article(word: str) -> str:
    return "an" if VOWEL.match(word) else "a"


def adapted(before: str, word: str, other: str) -> str:
    """What stands before a word, for another in its place. An article that does not suit the first
    stays as it is: somebody speaks otherwise."""
    last = BEFORE.search(before)
    if last is None or last.group(1).lower() != article(word):
        return before
    return before[: last.start()] + _cased(last.group(1), other) + last.group(2)


def _cased(like: str, word: str) -> str:
    """A lone capital may begin a sentence, or stand before capitals."""
    new = article(word)
    if like.islower():
        return new
    return new.upper() if word.isupper() and len(word) > 1 else new.capitalize()
