"""Items with the same texts: a model says the same of all of them, so that they are one draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from stereometer.show.numbers import count
from stereometer.types import Item, Score, Slice

Wording = tuple[tuple[str, str], ...]


def wording(of: Item | Score) -> Wording:
    """What two copies share: the text of every candidate, or the number that stands for it; empty
    where neither is known."""
    if not of.texts and isinstance(of, Score) and of.copy:
        return (("copy", str(of.copy)),)
    return tuple(sorted(of.texts.items()))


def term(slices: Slice, unit_by: Sequence[str]) -> tuple[str, ...]:
    """Of an item whose slices name one; else empty."""
    named = tuple(slices.get(name, "") for name in unit_by)
    return named if all(named) else ()


def copied(items: Iterable[Item], unit_by: Sequence[str]) -> Iterator[str]:
    """Notes on texts that occur more than once: under one term, in several, and under none."""
    seen: dict[object, list[tuple[str, ...]]] = {}
    for item in items if unit_by else ():
        asked = wording(item), repr(sorted(item.also_asked.items()))
        seen.setdefault(asked, []).append(term(item.slices, unit_by))
    alone = sum(terms.count(()) for terms in seen.values() if terms.count(()) > 1)
    if alone:
        yield f"{alone:,} items of no known term share their texts: those of one text are one draw."
    if across := sum(len({*terms} - {()}) > 1 for terms in seen.values()):
        yield f"Under more than one target term: {count(across, 'text')}, counted in each."


def repeated(items: Iterable[Score]) -> dict[Wording, int]:
    """A number, from 1, for each wording that more than one item has."""
    several = (words for words, n in Counter(map(wording, items)).items() if words and n > 1)
    return {words: number for number, words in enumerate(several, start=1)}
