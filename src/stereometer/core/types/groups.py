"""What belongs together."""

from collections.abc import Iterable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def lists_by_key(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Keys and values in the order of the pairs."""
    lists: dict[Key, list[Value]] = {}
    for key, value in pairs:
        lists.setdefault(key, []).append(value)
    return lists
