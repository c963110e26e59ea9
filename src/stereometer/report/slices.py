"""Slices in words, and the groups in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stereometer.types import Slice

KINDS: dict[tuple[str, ...], tuple[str, str]] = {
    (): ("overall", "overall"),
    ("task",): ("task", "tasks"),
    ("domain",): ("domain", "domains"),
    ("task", "domain"): ("domain within a task", "domains within a task"),
    ("direction",): ("direction", "directions"),
    ("bias_type",): ("bias type", "bias types"),
}
"""What a slice fixes, as one and as many; target terms have a section of their own."""
TERM = ("domain", "target")


@dataclass(frozen=True)
class Group:
    """Slices under one heading; several groups can be of one kind."""

    kind: tuple[str, ...]
    heading: str
    rows: tuple[tuple[str, Slice], ...]
    """The label under the heading, and the slice."""


def kind_of(slice_: Slice) -> tuple[str, ...]:
    return tuple(slice_)


def is_term(slice_: Slice) -> bool:
    return kind_of(slice_) == TERM


def named(slice_: Slice) -> str:
    return " ".join(slice_.values()) or "overall"


def kind_name(kind: tuple[str, ...], many: bool) -> str:
    one, several = KINDS.get(kind, (" and ".join(kind), " and ".join(kind)))
    return several if many else one


def groups(slices: Iterable[Slice]) -> list[Group]:
    """In order of appearance: by what is fixed, and for two things by the value of the first."""
    found: dict[tuple[tuple[str, ...], str], list[tuple[str, Slice]]] = {}
    for slice_ in slices:
        if not is_term(slice_):
            *outer, last = slice_.values() or ("overall",)
            found.setdefault((kind_of(slice_), " ".join(outer)), []).append((last, slice_))
    return [
        Group(kind, _heading(kind, outer), tuple(rows)) for (kind, outer), rows in found.items()
    ]


def _heading(kind: tuple[str, ...], outer: str) -> str:
    if not kind:
        return ""
    if outer:
        return f"{outer.capitalize()} by {kind_name(kind[-1:], many=False)}"
    return kind_name(kind, many=False).capitalize()
