"""Counterfactuals: a text with the words of one class in the place of another's.

Case and punctuation stay; an English article follows the word after it. Swapping back gives the
text itself: where it would not (`gave him flowers`, whose `her` would be read as that of `her
flowers`), there is no counterfactual, and who asks leaves the text out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stereometer.core.shapes.sentences import words_of
from stereometer.wings.mitigation.attribute import Attribute, Role

WORD = re.compile(r"(?<![\w-])\w+")
FOLLOWING = re.compile(r"\s+(\w[\w'’-]*)")
"""The next word, if nothing but space stands before it."""


@dataclass(frozen=True)
class Spot:
    """A list word in a text."""

    start: int
    end: int
    word: str
    """As the lists have it, in lower case."""
    classes: frozenset[str]
    """Whose word it is."""
    held_out: bool
    rows: Sequence[Role]
    """Where it stands in the lists; in several only by its role."""


class Swaps:
    """What can be done with the words of an attribute."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self.numbers = {name: number for number, name in enumerate(attribute.classes)}
        self.not_nouns = {word.lower() for word in attribute.not_before_noun}

    @cached_property
    def _places(self) -> Mapping[str, list[Role]]:
        """By word in lower case, the rows that it stands in."""
        places: dict[str, list[Role]] = {}
        attribute = self.attribute
        sole = (Role(row, before_noun=False) for row in (*attribute.rows, *attribute.held_out))
        for row in (*sole, *attribute.roles):
            for word in set(row.lower):
                places.setdefault(word, []).append(row)
        return places

    @cached_property
    def _held_out(self) -> frozenset[str]:
        return frozenset(word.lower() for row in self.attribute.held_out for word in row)

    @cached_property
    def _entries(self) -> Mapping[str, list[tuple[str, re.Pattern[str]]]]:
        """By their first word; longer ones first. A word beside a hyphen is none."""
        entries: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
        for entry in sorted(self._places, key=len, reverse=True):
            pattern = r"\s".join(map(re.escape, entry.split()))
            start = WORD.search(entry)
            first = start.group() if start else entry
            whole = re.compile(rf"{pattern}(?![\w-])", re.IGNORECASE)
            entries.setdefault(first, []).append((entry, whole))
        return entries

    def spots(self, text: str) -> Iterator[Spot]:
        """The list words of a text, in order."""
        end, names = 0, self.attribute.classes
        for begun in WORD.finditer(text):
            if begun.start() < end:
                continue
            for entry, pattern in self._entries.get(begun.group().lower(), ()):
                if match := pattern.match(text, begun.start()):
                    end, rows = match.end(), self._places[entry]
                    own = frozenset(names[row.lower.index(entry)] for row in rows)
                    yield Spot(begun.start(), end, entry, own, entry in self._held_out, rows)
                    break

    def label(self, text: str, held_out: bool | None = None) -> str | None:
        """The only class whose words a text holds; with `held_out` only where all of them are, or
        none of them is, a held-out word."""
        spots = list(self.spots(text))
        classes = {name for spot in spots for name in spot.classes}
        kinds = {spot.held_out for spot in spots}
        if len(classes) != 1 or (held_out is not None and kinds != {held_out}):
            return None
        return classes.pop()

    def versions(self, text: str) -> dict[str, str] | None:
        """A labelled text for every class, its own among them; nothing where one is missing."""
        label = self.label(text)
        if label is None:
            return None
        versions: dict[str, str] = {}
        for name in self.attribute.classes:
            other = text if name == label else self.swapped(text, label, name)
            if other is None:
                return None
            versions[name] = other
        return versions

    def swapped(self, text: str, first: str, second: str) -> str | None:
        """With the words of two classes exchanged, if that can be undone and changes anything."""
        other = self._exchange(text, first, second)
        undone = self._exchange(other, first, second) if other is not None else None
        return other if undone == text and other != text else None

    def _exchange(self, text: str, first: str, second: str) -> str | None:
        """Each class in the place of the other, so that doing it twice gives the text again; None
        where a word has no counterpart in its place."""
        pieces, end = [], 0
        for spot in self.spots(text):
            word = text[spot.start : spot.end]
            other = self._counterpart(text, spot, first, second)
            if other is None:
                return None
            cased = _match_cases(word, other)
            before = text[end : spot.start]
            if self.attribute.language == "en":  # its articles follow the word after them
                before = adapted(before, word, cased)
            pieces += [before, cased]
            end = spot.end
        return "".join([*pieces, text[end:]])

    def _counterpart(self, text: str, spot: Spot, first: str, second: str) -> str | None:
        """The word of the other class; a word of neither stays. What follows tells rows apart."""
        rows = spot.rows
        if len(rows) > 1:
            following = FOLLOWING.match(text, spot.end)
            noun = following is not None and following.group(1).lower() not in self.not_nouns
            rows = [row for row in rows if row.before_noun == noun]
        if len(rows) != 1:
            return None
        left, right = self.numbers[first], self.numbers[second]
        other = {left: right, right: left}.get(rows[0].lower.index(spot.word))
        return text[spot.start : spot.end] if other is None else rows[0].words[other]


def _match_cases(word: str, other: str) -> str:
    """Part by part in the same case: small, capital, or with a capital initial."""
    likes, parts = word.split(), other.split()
    likes += likes[-1:] * (len(parts) - len(likes))
    return " ".join(_match_case(like, part) for like, part in zip(likes, parts, strict=False))


def _match_case(like: str, word: str) -> str:
    if like.islower():
        return word.lower()
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[:1].upper() + word[1:].lower()


# ------------------------------------------- English articles: `an African city`, `a European city`

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
    return before[: last.start()] + _match_article(last.group(1), other) + last.group(2)


def _match_article(like: str, word: str) -> str:
    """A lone capital may begin a sentence, or stand before capitals."""
    new = article(word)
    if like.islower():
        return new
    return new.upper() if word.isupper() and len(word) > 1 else new.capitalize()


# -------------------------------------------------------------------- words of an attribute's lists


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
