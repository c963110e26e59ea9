"""Slices in words, and the groups in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stereometer.core.types import Slice

Fixed = tuple[str, ...]
"""What a slice fixes."""
WORDS = {"bias_type": "bias type", "example_set": "example set", "other_domain": "other domain"}
MANY = {"category": "categories"}


@dataclass(frozen=True)
class SliceGroup:
    """Slices under one heading; several groups can fix the same."""

    fixed: Fixed
    heading: str
    rows: tuple[tuple[str, Slice], ...]
    """The label under the heading, and the slice."""


def named(slice_: Slice) -> str:
    return " ".join(slice_.values()) or "overall"


def fixed_name(fixed: Fixed, many: bool) -> str:
    """`bias type`, `domains within a task`."""
    if not fixed:
        return "overall"
    *outer, inner = (WORDS.get(name, name) for name in fixed)
    name = MANY.get(inner, f"{inner}s") if many else inner
    within = " and ".join(outer)
    return f"{name} within {'an' if within[0] in 'aeiou' else 'a'} {within}" if outer else name


def groups(slices: Iterable[Slice]) -> list[SliceGroup]:
    """In order of appearance: by what is fixed, and for two things by the value of the first."""
    rows: dict[tuple[Fixed, str], list[tuple[str, Slice]]] = {}
    for slice_ in slices:
        *outer, last = slice_.values() or ("overall",)
        rows.setdefault((tuple(slice_), " ".join(outer)), []).append((last, slice_))
    return [SliceGroup(key[0], _heading(*key), tuple(labelled)) for key, labelled in rows.items()]


def _heading(fixed: Fixed, outer: str) -> str:
    if not fixed:
        return ""
    if outer:
        return f"{outer.capitalize()} by {fixed_name(fixed[-1:], many=False)}"
    return fixed_name(fixed, many=False).capitalize()
