"""Small facts about English that flags and splits rest on."""

import re
import tomllib
from pathlib import Path

from stereometer.core.shapes.sentences import words_of
from stereometer.kinds.cats.items import OPENING

HERE = Path(__file__).parent
LISTS = tomllib.loads((HERE / "english.toml").read_text("utf-8"))
FUNCTION_WORDS = frozenset(LISTS["function"].split())
"""Words that two texts may share without having anything to do with each other."""
AGREEMENT = frozenset(LISTS["agreement"].split())
"""Words that change because the group does: pronouns, articles, and verbs that agree."""
SILENT_H = ("hour", "honest", "honor", "honour", "heir")
SAID_AS_CONSONANT = re.compile(
    r"eu|ewe|one$|one-|once|u-|ubi|ugand|uk|unanim|uni(?!n|m(?!od)|de|dio|ll|r|ss)"
    r"|ur[aeiou]|us[aeu]|ut[aeiou]|uy|uig"
)
"""`you` or `w` at the beginning; `uni` is one unless `un` stands before a word, as in
`unidentified`."""


def content_words(text: str) -> set[str]:
    return {word for word in words_of(text) if word not in FUNCTION_WORDS and len(word) > 2}


VOWEL_NAMES = "AEFHILMNORSX"
"""Letters whose names begin with a vowel sound."""
EITHER_H = ("histori", "hysteri", "habitual", "heroic", "horrif", "hotel")
"""An h that some say and some do not: `a historic`, `an historic`."""


def wants_an(word: str) -> bool | None:
    """Whether `an` goes before a word; None where both are said, or where letters do not tell."""
    first = (word.split() or [""])[0].lstrip(OPENING)
    if number := re.match(r"\d[\d,]*", first):
        return _number_wants_an(number[0].rstrip(","))
    head = re.split(r"[-'’]", first.rstrip('.,;:!?)"”'))[0].replace(".", "")
    if letters := re.fullmatch(r"([A-Za-z])|([A-Z]+)\d+s?|([A-Z]{2,})s?", head):
        return _letters_want_an(letters[letters.lastindex or 0].upper())
    low = first.lower()
    if not re.match(r"[a-z]", low) or low.startswith(EITHER_H):
        return None
    return low.startswith(SILENT_H) or (low[0] in "aeiou" and not SAID_AS_CONSONANT.match(low))


def _number_wants_an(digits: str) -> bool | None:
    """`an` before 8, 11, 18, 80, their hundreds and thousands; 1800 may be eighteen hundred."""
    plain = digits.replace(",", "")
    if len(plain) == 4 and digits == plain and plain[:2] in ("11", "18"):
        return None
    lead = plain[: len(plain) % 3 or 3]
    return lead in ("11", "18") or lead.startswith("8")


def _letters_want_an(letters: str) -> bool | None:
    """By the first letter's name; None where the initials may be said as a word (`NASA`) or are one
    in capitals (`UGLY`)."""
    wordlike = len(letters) > 1 and letters[0] in "FHLMNRSX" and letters[1] in "AEIOUY"
    if wordlike or (letters[0] == "U" and len(letters) > LONGEST_INITIALS):
        return None
    return letters[0] in VOWEL_NAMES


LONGEST_INITIALS = 3
"""Letters of initials in `U` that are surely spoken one by one, such as `UFO`."""


def wrong_article(article: str, word: str) -> bool:
    wanted = wants_an(word)
    return wanted is not None and article.lower() == ("a" if wanted else "an")


PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("ss", "ss"), ("s", ""))


def base_form(word: str) -> str:
    """Without possessive and plural, as far as letters tell: `women's` is `woman`."""
    word = word.removesuffix("'s").removesuffix("'")
    if word.endswith("men"):
        return word.removesuffix("men") + "man"
    for ending, instead in PLURALS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + instead
    return word


BELONGING = ("n", "an", "ian", "ese", "i", "ish")
"""What makes of a place's name the word for who is from there: `Ethiopian`, `Japanese`, `Iraqi`."""


def mentions(text: str, term: str) -> bool:
    """Whether a term's words follow each other in a text: each itself, its plural or possessive, or
    who is from there."""
    named = term[:1].isupper()
    wanted = [
        forms | {form + ending for form in forms for ending in BELONGING if named}
        for forms in map(_singular, _parts(term))
    ]
    words = [_singular(word) for word in _parts(text)]
    return any(
        all(forms & word for forms, word in zip(wanted, words[at : at + len(wanted)], strict=True))
        for at in range(len(words) - len(wanted) + 1)
    )


def _parts(text: str) -> list[str]:
    """Words, and those of a compound by themselves."""
    return [part for word in words_of(text) for part in word.split("-")]


def _singular(word: str) -> set[str]:
    """A word without possessive, and what it may be the plural of: `wives` of `wife`."""
    bare = word.removesuffix("'s").removesuffix("'")
    forms = {bare, base_form(bare)}
    if bare.endswith("children"):
        forms.add(bare.removesuffix("ren"))
    if bare.endswith("es") and len(bare) > SHORTEST_PLURAL:
        forms.add(bare.removesuffix("es"))
    if bare.endswith("ves"):
        forms |= {bare.removesuffix("ves") + ending for ending in ("f", "fe")}
    return forms


SHORTEST_PLURAL = 4
"""Letters of a word in `es` that may be a plural."""
