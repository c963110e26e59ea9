"""Objects from their JSON, held to the types of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import GenericAlias
from typing import Any, TypeVar

Document = TypeVar("Document")


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import ConfigDict, TypeAdapter

    # In a list, because the configuration of a dataclass itself cannot be chosen from outside.
    several: Any = GenericAlias(list, (kind,))
    return TypeAdapter(several, config=ConfigDict(extra="forbid", allow_inf_nan=False))


def typed(kind: type[Document], value: Mapping[str, Any]) -> Document:
    """Raises ValueError, which names the first field that is wrong."""
    from pydantic import ValidationError

    try:
        adapter = _adapter(kind)  # type: ignore[arg-type]  # a class can be hashed
        document: Document = adapter.validate_python([value])[0]
        return document
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"][1:]))
        raise ValueError(f"{place or 'it'}: {first['msg'].lower()}") from None
