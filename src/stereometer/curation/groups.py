"""Items about the same group, told by words: what a split must not tear apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stereometer.curation.analyze.items import group_of, words_of
from stereometer.curation.analyze.words import AGREEMENT, FUNCTION_WORDS, base_form
from stereometer.shapes.pair.items import Pair, edits
from stereometer.stats.connected import connected

SHORTEST = 3
"""Letters of a word that can name a group."""

Marks = Callable[[Any], frozenset[str]]
"""The words that an item shares with items about the same group."""


@dataclass(frozen=True)
class Group:
    """Items that are connected by the words of their changes or by their target term."""

    domain: str
    """Shape and domain or bias type of most of its items."""
    words: tuple[str, ...]
    items: tuple[Any, ...]


def content(words: Sequence[str]) -> frozenset[str]:
    """The base forms of words that can name a group; the parts of a compound stand by themselves."""
    parts = [
        part
        for word in words
        if word not in FUNCTION_WORDS | AGREEMENT and "n't" not in word
        for part in word.split("-")
    ]
    return frozenset(
        base_form(part)
        for part in parts
        if len(part) >= SHORTEST and part not in FUNCTION_WORDS | AGREEMENT
    )


def _changed(item: Pair, sides: Sequence[int]) -> frozenset[str]:
    made = edits(words_of(item.sent_more), words_of(item.sent_less))
    return content([word for edit in made for side in sides for word in edit[side]])


def _of_target(item: Any) -> frozenset[str]:
    target = re.sub(r"\s+", " ", item.target.strip().lower())
    return frozenset({base_form(target)}) | content(words_of(target))


def of_both(item: Any) -> frozenset[str]:
    """The target term, or the words that either sentence of a pair has alone."""
    return _changed(item, (0, 1)) if isinstance(item, Pair) else _of_target(item)


def of_named(items: Sequence[Any]) -> Marks:
    """Only the words that name the group a stereotype is of: those that are oftener in the sentence about it than in the other.

    `white` and `American` stand in for so many groups that they would connect nearly all of CrowS-Pairs.
    """
    pairs = [item for item in items if isinstance(item, Pair)]
    about, other = (
        Counter(word for pair in pairs for word in _changed(pair, [side(pair)]))
        for side in (_about, _other)
    )

    def marks(item: Any) -> frozenset[str]:
        if not isinstance(item, Pair):
            return _of_target(item)
        words = _changed(item, [_about(item)])
        naming = frozenset(word for word in words if about[word] > other[word])
        return naming or frozenset({" ".join(sorted(words))} - {""})

    return marks


def _about(pair: Pair) -> int:
    """Which sentence is about the group that the stereotype is of (Nangia et al. 2020, section 2)."""
    return 1 if pair.direction == "antistereo" else 0


def _other(pair: Pair) -> int:
    return 1 - _about(pair)


CONNECTED = "words that only one sentence of a pair has, and target terms"
NAMED = "words that name the group a stereotype is of, and target terms"


def groups_of(items: Sequence[Any], largest: float) -> tuple[list[Group], str]:
    """Groups, and by what; by fewer words where all of them would make one group of more than the share `largest`."""
    found = grouped(items, of_both)
    if max(len(group.items) for group in found) <= largest * len(items):
        return found, CONNECTED
    return grouped(items, of_named(items)), NAMED


def grouped(items: Sequence[Any], marks: Marks) -> list[Group]:
    """Items connected by marks, directly or through others; one without a mark stands by itself."""
    words = [marks(item) for item in items]
    return [
        _group([items[at] for at in some], frozenset().union(*(words[at] for at in some)))
        for some in connected(words)
    ]


def _group(items: Sequence[Any], words: frozenset[str]) -> Group:
    counted = Counter(domain_of(item) for item in items)
    domain = min(counted, key=lambda one: (-counted[one], one))
    return Group(domain, tuple(sorted(words)) or (items[0].id,), tuple(items))


def domain_of(item: Any) -> str:
    return f"{'pair' if isinstance(item, Pair) else 'cat'} {group_of(item)}"
