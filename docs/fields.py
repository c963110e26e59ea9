"""The fields of JSON documents: names, kinds of value and nesting, read from the documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

WORDS = {bool: "yes or no", int: "number", float: "number", str: "text", type(None): "null"}


@dataclass(frozen=True)
class Reader:
    """Turns documents into fields."""

    maps: frozenset[str]
    """Objects whose keys are data."""
    records: Mapping[str, frozenset[str]]
    """Objects that stand in several documents and are described once, by keys that all have."""

    def fields(self, documents: Iterable[Mapping[str, Any]]) -> dict[str, Field]:
        top: dict[str, Field] = {}
        for document in documents:
            self._add(top, document)
        return top

    def _add(self, fields: dict[str, Field], document: Mapping[str, Any]) -> None:
        for name, value in document.items():
            self._see(fields.setdefault(name, Field()), name, value)

    def _see(self, seen: Field, name: str, value: Any) -> None:
        if isinstance(value, list):
            seen.listed = True
            for entry in value:
                self._see(seen, "", entry)
        elif not isinstance(value, Mapping):
            seen.words.add(WORDS[type(value)])
        elif name in self.maps:
            seen.words.add("map")
        elif (record := self.record(value)) is not None:
            seen.words.add(record)
        else:
            seen.words.add("object")
            self._add(seen.inside, value)

    def record(self, value: Mapping[str, Any]) -> str | None:
        """What an object is called where it is described by itself."""
        if "schema" in value:
            return f"`{value['schema']}`"
        return next((name for name, keys in self.records.items() if keys <= value.keys()), None)


@dataclass
class Field:
    """A field as seen so far; `inside` holds the fields of the objects in it."""

    words: set[str] = field(default_factory=set)
    inside: dict[str, Field] = field(default_factory=dict)
    listed: bool = False

    @property
    def kind(self) -> str:
        words = sorted(self.words - {"null"}) + sorted(self.words & {"null"})
        text = " or ".join(words)
        return (f"list of {text}" if text else "list") if self.listed else text


def walk(fields: Mapping[str, Field], path: str = "") -> Iterator[tuple[str, str, Field]]:
    """Each field with its path (`pairs[].differences[].low`) and its own name."""
    for name, entry in fields.items():
        where = f"{path}{name}{'[]' if entry.listed else ''}"
        yield where, name, entry
        yield from walk(entry.inside, f"{where}.")


def inner(value: Any) -> Iterator[Mapping[str, Any]]:
    """A document and every object in it."""
    if isinstance(value, Mapping):
        yield value
        for entry in value.values():
            yield from inner(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from inner(entry)
