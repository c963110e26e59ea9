"""Values as JSON: all written the same way, read back with the types of their fields, and told
apart by a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeVar

UNSTORED = {"stored": False}
"""Of a field that says where something is on this machine: it is no part of the document."""


class Document:
    """Written as its fields, its schema first where it has one."""

    def as_json(self) -> dict[str, Any]:
        value = _stored(self)
        return {"schema": value["schema"], **value} if "schema" in value else value


def _stored(value: Any) -> dict[str, Any]:
    names = (field.name for field in fields(value) if field.metadata != UNSTORED)
    return {name: _plain(getattr(value, name)) for name in names}


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Document):
        return value.as_json()
    if is_dataclass(value):
        return _stored(value)
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return sorted(value) if isinstance(value, frozenset) else value


Kind = TypeVar("Kind")


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import ConfigDict, TypeAdapter

    # In a list, because the configuration of a dataclass itself cannot be chosen from outside.
    several: Any = GenericAlias(list, (kind,))
    return TypeAdapter(several, config=ConfigDict(extra="forbid", allow_inf_nan=False))


def typed(kind: type[Kind], value: Mapping[str, Any]) -> Kind:
    """Raises ValueError, which names the first field that is wrong."""
    from pydantic import ValidationError

    try:
        adapter = _adapter(kind)  # type: ignore[arg-type]  # a class can be hashed
        document: Kind = adapter.validate_python([value])[0]
        return document
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"][1:]))
        raise ValueError(f"{place or 'it'}: {first['msg'].lower()}") from None


CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
"""Made once: `json.dumps` would make one for every request."""


def digest_of_rows(rows: Iterable[object]) -> str:
    """The digest of a list, of which one entry at a time is held as text."""
    hashed, comma = hashlib.sha256(b"["), b""
    for row in rows:
        hashed.update(comma + CANONICAL.encode(row).encode("utf-8", "surrogatepass"))
        comma = b","
    hashed.update(b"]")
    return hashed.hexdigest()


def digest_of(value: object) -> str:
    """The sha256 of a value's canonical JSON; equal values give equal digests on every machine."""
    text = CANONICAL.encode(value)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of_file(path: Path) -> str:
    """The sha256 of its bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
