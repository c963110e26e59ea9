"""Texts in batches, longest first: no padding, or hardly any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Protocol, TypeVar

Element = TypeVar("Element")


class Text(Sized, Protocol):
    @property
    def segments(self) -> tuple[int, ...]: ...


AnyText = TypeVar("AnyText", bound=Text)


def grouped(
    elements: Iterable[Element], is_full: Callable[[list[Element], Element], bool]
) -> Iterator[list[Element]]:
    """Consecutive elements in lists; a new list begins with an element for which one is full."""
    group: list[Element] = []
    for element in elements:
        if group and is_full(group, element):
            yield group
            group = []
        group.append(element)
    if group:
        yield group


def packed(texts: Iterable[AnyText], budget: int) -> Iterator[list[AnyText]]:
    """Batches of texts of nearly one length, each within the budget."""
    group: list[AnyText] = []
    size = 0
    for text in sorted(texts, key=_form, reverse=True):
        if group and (bool(text.segments) != bool(group[0].segments) or size + len(text) > budget):
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group


def equal_length(texts: Iterable[AnyText], budget: int) -> Iterator[list[AnyText]]:
    """Batches of texts of one length, each within the budget: no padding anywhere."""
    return grouped(
        sorted(texts, key=_form, reverse=True),
        lambda group, text: _form(text) != _form(group[0]) or (len(group) + 1) * len(text) > budget,
    )


def segments_of(batch: Sequence[Text]) -> list[tuple[int, ...]] | None:
    """The segments of a batch, for a model that reads them; None for single texts."""
    return [text.segments for text in batch] if batch[0].segments else None


def _form(text: Text) -> tuple[bool, int]:
    """Whether the model is told of segments, and length."""
    return bool(text.segments), len(text)
