"""What a training text shares with the benchmarks on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from stereometer import catalog
from stereometer.errors import DataError, StereometerError
from stereometer.mitigations.card import Leak
from stereometer.mitigations.lists import Lists, plain
from stereometer.runs.open import open_benchmark
from stereometer.shapes.fact import FACT
from stereometer.shapes.sentences import SentenceShape
from stereometer.show.numbers import count

NAMED = 5
"""Items that an error names."""


def looked_at(sentences: Iterable[str], words: Iterable[str]) -> dict[str, Leak]:
    """By benchmark, how much of it the text and the word lists touch; raises where a sentence is
    shared: numbers on items that a model was changed on prove nothing."""
    known, lists = set(map(plain, sentences)), Lists(words)
    leaks = {}
    for name in catalog.names("benchmark"):
        if items := _texts(name):
            shared = [
                id_ for id_, texts in items.items() if not known.isdisjoint(map(plain, texts))
            ]
            if shared:
                raise _refusal(name, shared)
            leaks[name] = Leak(len(items), 0, sum(map(lists.touch, items.values())))
    return leaks


def _refusal(name: str, items: list[str]) -> DataError:
    more = ", ..." if items[NAMED:] else ""
    return DataError(
        f"The text shares sentences with {count(len(items), 'item')} of {name} "
        f"({', '.join(items[:NAMED])}{more}). Numbers on items that a model was changed on prove "
        "nothing. Leave those sentences out of the text."
    )


@cache
def _texts(name: str) -> Mapping[str, tuple[str, ...]]:
    """The texts of its items by shape and id; none where its data are not here."""
    shapes = [shape for shape in catalog.find("benchmark", name).measures if _is_text(shape)]
    if not shapes:
        return {}
    try:
        benchmark = open_benchmark(name)
    except StereometerError:  # not here, or it asks for a file
        return {}
    return {
        f"{shape} {item.id}": tuple(item.texts.values())
        for shape in shapes
        for item in benchmark.shapes.get(shape, ())
    }


def _is_text(shape: str) -> bool:
    """Whether items are sentences that somebody wrote."""
    return shape == FACT or isinstance(catalog.shape(shape), SentenceShape)
