"""Things that are connected by what they share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence


def connected(marks: Sequence[Iterable[Hashable]]) -> list[list[int]]:
    """Places that share a mark, directly or through others, together; in order of first appearance. One without marks stands alone."""
    parent = list(range(len(marks)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first: dict[Hashable, int] = {}
    for index, some in enumerate(marks):
        for mark in some:
            parent[root(index)] = root(first.setdefault(mark, index))
    found: dict[int, list[int]] = {}
    for index in range(len(marks)):
        found.setdefault(root(index), []).append(index)
    return list(found.values())
