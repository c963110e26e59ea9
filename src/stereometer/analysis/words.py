"""Small facts about English that flags and splits rest on."""

from __future__ import annotations

import re
import tomllib
from importlib import resources

from stereometer.analysis.items import words_of

LISTS = tomllib.loads(resources.files("stereometer.analysis").joinpath("words.toml").read_text("utf-8"))
FUNCTION_WORDS = frozenset(LISTS["function"].split())
"""Words that two texts may share without having anything to do with each other."""

AGREEMENT = frozenset(LISTS["agreement"].split())
"""Words that change because the group does: pronouns, articles, and verbs that agree."""

SILENT_H = ("hour", "honest", "honor", "honour", "heir")
SAID_AS_CONSONANT = re.compile(
    r"eu|ewe|one$|one-|once|u-|ubi|ugand|uk|unanim|uni(?!n|m(?!od)|de|dio|ll|r|ss)|ur[aeiou]|us[aeu]|ut[aeiou]|uy|uig"
)
"""`you` or `w` at the beginning; `uni` is one unless `un` stands before a word, as in `unidentified`."""


def content_words(text: str) -> set[str]:
    return {word for word in words_of(text) if word not in FUNCTION_WORDS and len(word) > 2}


def wants_an(word: str) -> bool | None:
    """Whether `an` goes before a word; None where letters do not tell, as in numbers and initials."""
    if not re.match(r"[A-Za-z]", word) or (word.isupper() and len(word) > 1):
        return None
    low = word.lower()
    if low.startswith(SILENT_H):
        return True
    return low[0] in "aeiou" and not SAID_AS_CONSONANT.match(low)


def wrong_article(article: str, word: str) -> bool:
    wanted = wants_an(word)
    return article.lower() in ("a", "an") and wanted is not None and (article.lower() == "an") != wanted


def mentions(text: str, term: str) -> bool:
    """Whether a term stands in a text, whole words, with any ending: `Ethiopia` in `Ethiopians`, `lady` in `ladies`."""
    forms = [re.escape(term.lower()), *([re.escape(term.lower()[:-1]) + "ies"] if term.lower().endswith("y") else [])]
    return re.search(rf"(?<!\w)(?:{'|'.join(forms)})", text.lower()) is not None
