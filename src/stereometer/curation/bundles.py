"""Items about the same group, found by their words: what a split must not tear apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from stereometer.curation.english import AGREEMENT, FUNCTION_WORDS, base_form
from stereometer.shapes.sentences import SentenceItem
from stereometer.stats.connected import connected

SHORTEST = 3
"""Letters of a word that can name a group."""

Marks = Callable[[SentenceItem], frozenset[str]]
"""The words that an item shares with items about the same group."""


@dataclass(frozen=True)
class Bundle:
    """Items that are connected by the words of their changes or by their target term."""

    domain: str
    """Shape and domain or bias type of most of its items."""
    words: tuple[str, ...]
    items: tuple[SentenceItem, ...]


def content(words: Iterable[str]) -> frozenset[str]:
    """The base forms of words that can name a group; the parts of a compound stand by
    themselves."""
    empty = FUNCTION_WORDS | AGREEMENT
    parts = [
        part
        for word in words
        if word not in empty and "n't" not in word
        for part in word.split("-")
    ]
    return frozenset(
        base_form(part) for part in parts if len(part) >= SHORTEST and part not in empty
    )


def _of_term(item: SentenceItem) -> frozenset[str]:
    return content(item.about) | {base_form(" ".join(item.term.lower().split()))}


def of_both(item: SentenceItem) -> frozenset[str]:
    """The target term, or the words that either sentence of a pair has alone."""
    return _of_term(item) if item.term else content([*item.about, *item.instead])


def of_named(items: Sequence[SentenceItem]) -> Marks:
    """Only the words that name the group a stereotype is of: those oftener in the sentence about it
    than in the other.

    `white` and `American` stand in for so many groups that they would connect nearly all of
    CrowS-Pairs.
    """
    pairs = [item for item in items if not item.term]
    about = Counter(word for pair in pairs for word in content(pair.about))
    instead = Counter(word for pair in pairs for word in content(pair.instead))

    def marks(item: SentenceItem) -> frozenset[str]:
        if item.term:
            return _of_term(item)
        words = content(item.about)
        naming = frozenset(word for word in words if about[word] > instead[word])
        return naming or frozenset({" ".join(sorted(words))} - {""})

    return marks


CONNECTED = "words that only one sentence of a pair has, and target terms"
NAMED = "words that name the group a stereotype is of, and target terms"


def bundles_of(items: Sequence[SentenceItem], largest: float) -> tuple[list[Bundle], str]:
    """Bundles, and what connects them: fewer words where all would put more than the share
    `largest` into one."""
    bundles = bundled(items, of_both)
    if max(len(bundle.items) for bundle in bundles) <= largest * len(items):
        return bundles, CONNECTED
    return bundled(items, of_named(items)), NAMED


def bundled(items: Sequence[SentenceItem], marks: Marks) -> list[Bundle]:
    """Items connected by marks, directly or through others; one without a mark stands by itself."""
    words = [marks(item) for item in items]
    return [
        _bundle([items[at] for at in places], frozenset().union(*(words[at] for at in places)))
        for places in connected(words)
    ]


def _bundle(items: Sequence[SentenceItem], words: frozenset[str]) -> Bundle:
    counts = Counter(f"{item.shape} {item.domain}" for item in items)
    domain = min(counts, key=lambda name: (-counts[name], name))
    return Bundle(domain, tuple(sorted(words)) or (items[0].id,), tuple(items))
