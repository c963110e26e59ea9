"""JSON Schemas of documents: names, kinds of value and nesting, read from the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

TYPES = {bool: "boolean", int: "number", float: "number", str: "string", type(None): "null"}
MAP, OBJECT, NULL = "map", "object", "null"
Schema = dict[str, Any]


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
            self._see(fields.setdefault(name, Field()), name, value, 0)

    def _see(self, seen: Field, name: str, value: Any, depth: int) -> None:
        if isinstance(value, list):
            seen.kinds.setdefault(depth + 1, set())
            for entry in value:
                self._see(seen, "", entry, depth + 1)
            return
        kinds = seen.kinds.setdefault(depth, set())
        if not isinstance(value, Mapping):
            kinds.add(TYPES[type(value)])
        elif name in self.maps:
            kinds.add(MAP)
        elif (record := self.record(value)) is not None:
            kinds.add(record)
        else:
            kinds.add(OBJECT)
            self._add(seen.inside, value)

    def record(self, value: Mapping[str, Any]) -> str | None:
        """What an object is called where it is described by itself."""
        if "schema" in value:
            return str(value["schema"])
        return next((name for name, keys in self.records.items() if keys <= value.keys()), None)


@dataclass
class Field:
    """A field as seen so far."""

    kinds: dict[int, set[str]] = field(default_factory=dict)
    """Of its values, by the number of lists around them."""
    inside: dict[str, Field] = field(default_factory=dict)
    """The fields of the objects in it."""

    def schema(self, about: Callable[[str], str]) -> Schema:
        """Any value may be null; of one that was never seen otherwise, nothing is known."""
        found = {
            depth: kinds - {NULL} if depth == 0 else kinds for depth, kinds in self.kinds.items()
        }
        if found == {0: set()}:
            return {}
        forms = [
            _in_lists(depth, self._value(kinds, about))
            for depth, kinds in sorted(found.items())
            if kinds or depth
        ]
        if len(forms) == 1 and isinstance(forms[0].get("type"), str):
            return {**forms[0], "type": [forms[0]["type"], NULL]}
        return {"anyOf": [*forms, {"type": NULL}]}

    def _value(self, kinds: set[str], about: Callable[[str], str]) -> Schema:
        plain = sorted(kinds & set(TYPES.values()))
        forms: list[Schema] = [{"type": plain if len(plain) > 1 else plain[0]}] if plain else []
        for kind in sorted(kinds - set(plain)):
            if kind == MAP:
                forms.append({"type": "object"})
            elif kind == OBJECT:
                forms.append({"type": "object", "properties": properties(self.inside, about)})
            else:
                forms.append({"$ref": f"{kind}.json"})
        return forms[0] if len(forms) == 1 else {"anyOf": forms} if forms else {}


def properties(fields: Mapping[str, Field], about: Callable[[str], str]) -> Schema:
    """Each field with a sentence about it."""
    return {
        name: {"description": about(name), **entry.schema(about)} for name, entry in fields.items()
    }


def _in_lists(depth: int, schema: Schema) -> Schema:
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def inner(value: Any) -> Iterator[Mapping[str, Any]]:
    """A document and every object in it."""
    if isinstance(value, Mapping):
        yield value
        for entry in value.values():
            yield from inner(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from inner(entry)
