"""Items that say the same as another, or nearly, and how far two texts are from each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import ceil

from stereometer.types import Item

NEAR = 0.8
"""Share of words two items have in common, of all words that either has (Jaccard)."""
MOST = 400
"""Items under one rare word that another is compared with: more would take hours in a large set
whose items are all alike."""


def normal(item: Item) -> tuple[str, ...]:
    return tuple(sorted(" ".join(text.lower().split()) for text in item.texts.values()))


def duplicates(items: Sequence[Item]) -> dict[str, str]:
    """Id of each item whose texts, case and spaces aside, stood before, and of the first with
    them."""
    first: dict[tuple[str, ...], str] = {}
    return {
        item.id: other
        for item in items
        if (other := first.setdefault(normal(item), item.id)) != item.id
    }


def near(sets: Mapping[str, frozenset[str]], least: float = NEAR) -> dict[str, str]:
    """For each id one other whose set of words is at least so alike.

    Two sets that alike share one of their rarest words: if all but the last `least` of each,
    ordered by rarity, were disjoint, too few would be left in common. So only sets that meet in
    those prefixes are compared, and with no more than `MOST` under a word.
    """
    often = Counter(word for words in sets.values() for word in words)
    seen: dict[str, list[str]] = defaultdict(list)
    nearest: dict[str, str] = {}
    for name, words in sets.items():
        prefix = sorted(words, key=lambda word: (often[word], word))[
            : len(words) - ceil(least * len(words)) + 1
        ]
        for other in dict.fromkeys(id_ for word in prefix for id_ in seen[word]):
            if name in nearest and other in nearest:
                continue
            if alike(words, sets[other]) >= least:
                nearest.setdefault(name, other)
                nearest.setdefault(other, name)
        for word in prefix:
            seen[word].append(name)
            if len(seen[word]) > MOST:
                seen[word] = _kept(seen[word], nearest)
    return nearest


def _kept(names: Sequence[str], nearest: Mapping[str, str]) -> list[str]:
    """The latest that have no near one yet, and the latest of those that have."""
    lone = [name for name in names if name not in nearest]
    paired = [name for name in names if name in nearest]
    return [*paired[-MOST // 4 :], *lone[-MOST // 4 :]]


def alike(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first or second else 0.0


def is_farther(first: str, second: str, limit: int) -> bool:
    """Whether more than `limit` characters must be added, left out or changed (Levenshtein).

    Only the cells of the table that lie within the limit of its diagonal are filled in.
    """
    if abs(len(first) - len(second)) > limit:
        return True
    row = {at: at for at in range(min(limit, len(second)) + 1)}
    for number, letter in enumerate(first, 1):
        above, row = row, {}
        for at in range(max(0, number - limit), min(len(second), number + limit) + 1):
            steps = [above.get(at, limit) + 1, row.get(at - 1, limit) + 1]
            if at:
                steps.append(above.get(at - 1, limit + 1) + (letter != second[at - 1]))
            row[at] = min(steps)
        if min(row.values()) > limit:
            return True
    return row[len(second)] > limit
