"""Texts that begin alike, laid out as one tree: what they share is computed once.

The candidates of an item share the words before the blank, and its continuations share the context. A tree is a row of
nodes in depth-first order; each node sees itself and its ancestors, and stands at its depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from stereometer.types import CausalTokens

LARGEST = 192
"""Nodes in a tree: attention between branches that do not see each other is wasted, so trees stay small."""
WORTH_SHARING = 2
"""A branch joins a tree when it shares at least this many nodes with the one before it."""

Asked = tuple[str, int]
"""A request and the number of a token in its row."""


@dataclass
class Tree:
    """Nodes of some texts, and which continuations are asked at each."""

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    asked: dict[int, dict[int, list[Asked]]] = field(default_factory=dict)
    """By node, then by the token that follows it."""
    path: list[int] = field(default_factory=list)
    """Nodes of the text added last."""

    def __len__(self) -> int:
        return len(self.tokens)

    def shared(self, ids: tuple[int, ...]) -> int:
        """How many nodes of the text added last this one begins with."""
        count = 0
        for node, token in zip(self.path, ids, strict=False):
            if self.tokens[node] != token:
                break
            count += 1
        return count

    def add(self, ids: tuple[int, ...]) -> None:
        self.path = self.path[: self.shared(ids)]
        for token in ids[len(self.path) :]:
            self.parents.append(self.path[-1] if self.path else -1)
            self.depths.append(len(self.path))
            self.path.append(len(self.tokens))
            self.tokens.append(token)

    def ask(self, key: str, request: CausalTokens) -> None:
        """Notes who asks for which token after which node of the text added last."""
        for number, position in enumerate(range(request.start, len(request.ids))):
            self.asked.setdefault(self.path[position - 1], {}).setdefault(request.ids[position], []).append((key, number))

    def ancestors(self) -> Iterator[list[int]]:
        """For each node, itself and the nodes above it."""
        lines: list[list[int]] = []
        for node, parent in enumerate(self.parents):
            lines.append([*(lines[parent] if parent >= 0 else []), node])
        yield from lines


def trees(requests: Mapping[str, CausalTokens], share: bool = True) -> list[Tree]:
    """Every text in some tree, the last token of each left out: nothing is asked after it."""
    found: list[Tree] = []
    for key, request in sorted(requests.items(), key=lambda one: one[1].ids):
        ids = request.ids[:-1]
        tree = found[-1] if found else Tree()
        common = tree.shared(ids)
        if not found or not share or common < WORTH_SHARING or len(tree) + len(ids) - common > LARGEST:
            tree = Tree()
            found.append(tree)
        tree.add(ids)
        tree.ask(key, request)
    return found
