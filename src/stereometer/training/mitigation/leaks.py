"""What a training text shares with the benchmarks on this machine and with files of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stereometer import catalog
from stereometer.benchmarks.benchmark import Benchmark
from stereometer.errors import DataError, StereometerError
from stereometer.mitigations.card import Leak
from stereometer.mitigations.lists import Lists, plain
from stereometer.runs.open import open_benchmark
from stereometer.shapes.fact import FACT
from stereometer.shapes.sentences import SentenceShape
from stereometer.show.numbers import count
from stereometer.training import articles

NAMED = 5
"""Items that an error names."""


@dataclass(frozen=True)
class Texts:
    """Of a benchmark's items."""

    by_item: Mapping[str, tuple[str, ...]]
    """By shape and id."""
    digest: str
    """Of the data."""


def looked_at(
    sentences: Iterable[str], words: Iterable[str], files: Sequence[Path] = ()
) -> dict[str, Leak]:
    """By benchmark or file, how much of it the text and the word lists touch; raises where a
    sentence is shared: numbers on items that a model was changed on prove nothing."""
    known, lists = set(map(plain, sentences)), Lists(words)
    leaks = {}
    for name, items in (_benchmarks() | _named(files)).items():
        shared = [
            id_ for id_, texts in items.by_item.items() if not known.isdisjoint(map(plain, texts))
        ]
        if shared:
            raise _refusal(name, shared)
        touched = sum(map(lists.touch, items.by_item.values()))
        leaks[name] = Leak(len(items.by_item), 0, touched, items.digest)
    return leaks


def _refusal(name: str, items: list[str]) -> DataError:
    more = ", ..." if items[NAMED:] else ""
    return DataError(
        f"The text, or the text with its words swapped, shares sentences with "
        f"{count(len(items), 'item')} of {name} ({', '.join(items[:NAMED])}{more}). Numbers on "
        "items that a model was changed on prove nothing. Leave those sentences out of the text."
    )


@cache
def _benchmarks() -> dict[str, Texts]:
    """Those of the catalog whose data are here and whose items are sentences."""
    readable = {}
    for name in catalog.names("benchmark"):
        if any(map(_is_text, catalog.find("benchmark", name).measures)):
            with suppress(StereometerError):  # not here, or it asks for a file
                readable[name] = _texts(open_benchmark(name))
    return readable


def _named(files: Sequence[Path]) -> dict[str, Texts]:
    """By their names alone: where they lie is nobody else's business."""
    known = [(file.name, _own(file)) for file in files]
    names = [name for name, _ in known]
    return {
        name if names.count(name) == 1 else f"{name} ({texts.digest[:8]})": texts
        for name, texts in known
    }


def _own(file: Path) -> Texts:
    texts = _texts(open_benchmark(str(file)))
    if not texts.by_item:
        raise DataError(
            f"{file} has no sentences that the text could be checked against. CATs, pairs and "
            "facts do. Leave it out of --against."
        )
    return texts


def _texts(benchmark: Benchmark) -> Texts:
    by_item = {
        f"{shape} {item.id}": tuple(_parts(item.texts.values()))
        for shape in filter(_is_text, benchmark.measures)
        for item in benchmark.shapes.get(shape, ())
    }
    return Texts(by_item, benchmark.digest)


def _parts(texts: Iterable[str]) -> Iterator[str]:
    """Texts and their sentences: an item may have several, where a text is read one by one."""
    for text in texts:
        yield text
        yield from (part for part in articles.sentences(text) if articles.long_enough(part))


def _is_text(shape: str) -> bool:
    """Whether items are sentences that somebody wrote."""
    return shape == FACT or isinstance(catalog.shape(shape), SentenceShape)
