"""Things that are connected by what they share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence


def connected(marks: Sequence[Iterable[Hashable]]) -> list[list[int]]:
    """Places that share a mark, directly or through others, together.

    They are in order of first appearance. A place without marks stands alone.
    """
    parent = list(range(len(marks)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first: dict[Hashable, int] = {}
    for index, own in enumerate(marks):
        for mark in own:
            parent[root(index)] = root(first.setdefault(mark, index))
    groups: dict[int, list[int]] = {}
    for index in range(len(marks)):
        groups.setdefault(root(index), []).append(index)
    return list(groups.values())
