"""Dataclasses that are printed or stored as JSON, all written the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

UNSTORED = {"stored": False}
"""Of a field that says where something is on this machine: it is no part of the document."""


class Document:
    """Written as its fields, its schema first where it has one."""

    def as_json(self) -> dict[str, Any]:
        value = _fields(self)
        return {"schema": value["schema"], **value} if "schema" in value else value


def _fields(value: Any) -> dict[str, Any]:
    return {
        field.name: _written(getattr(value, field.name))
        for field in fields(value)
        if field.metadata != UNSTORED
    }


def _written(value: Any) -> Any:
    if isinstance(value, Document):
        return value.as_json()
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, Mapping):
        return {key: _written(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_written(inner) for inner in value]
    return sorted(value) if isinstance(value, frozenset) else value
