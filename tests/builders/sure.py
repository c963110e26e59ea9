"""What a test knows and the type does not say: that a number is there, that items are of a kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")


def sure(value: T | None) -> T:
    assert value is not None
    return value


def all_of(kind: type[T], items: Iterable[object]) -> list[T]:
    """The items, each of this kind."""
    kept = []
    for item in items:
        assert isinstance(item, kind), f"{type(item).__name__} is not a {kind.__name__}"
        kept.append(item)
    return kept


class Interval(Protocol):
    @property
    def low(self) -> float | None: ...

    @property
    def value(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


def bounds(estimate: Interval) -> tuple[float, float, float]:
    """Low, value and high."""
    return sure(estimate.low), sure(estimate.value), sure(estimate.high)
