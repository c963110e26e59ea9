"""Texts that begin alike, laid out as one tree: what they share is computed once.

The candidates of an item share the words before the blank, and its continuations share the context.
A tree is a row of nodes in depth-first order; each node sees itself and its ancestors, and stands
at its depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from stereometer.types import CausalTokens

LARGEST = 192
"""Nodes in a tree: attention between branches is wasted, so trees stay small."""
WORTH_SHARING = 2
"""A branch joins a tree when it shares at least this many nodes with the one before it."""

LONG = 160
"""Nodes of a text from which it shares none: the numbers of a shared node would depend on whose it
is, because attention adds up long texts in other parts."""

Asked = tuple[str, int]
"""A request and the number of a token in its row."""


@dataclass(frozen=True)
class Text:
    """A request's tokens but the last: nothing is asked after it."""

    key: str
    request: CausalTokens

    @property
    def ids(self) -> tuple[int, ...]:
        return self.request.ids[:-1]

    def __len__(self) -> int:
        return len(self.request.ids) - 1


@dataclass(frozen=True)
class Line:
    """The nodes that a text goes through."""

    nodes: list[int]
    shared: int
    """How many of them another line brought."""


@dataclass
class Tree:
    """Nodes of some texts, and which continuations are asked at each."""

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    asked: dict[int, dict[int, list[Asked]]] = field(default_factory=dict)
    """By node, then by the token that follows it."""
    lines: list[Line] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, text: Text) -> None:
        """Texts must come in the order of their tokens: only the line added last can be shared."""
        ids, last = text.ids, self.lines[-1] if self.lines else Line([], 0)
        shared = common([self.tokens[node] for node in last.nodes], ids)
        if max(len(ids), len(last.nodes)) > LONG:
            shared = 0
        nodes = last.nodes[:shared]
        for token in ids[shared:]:
            self.parents.append(nodes[-1] if nodes else -1)
            self.depths.append(len(nodes))
            nodes.append(len(self.tokens))
            self.tokens.append(token)
        if self.lines and shared == len(last.nodes):
            self.lines[-1] = Line(nodes, last.shared)
        else:
            self.lines.append(Line(nodes, shared))
        self._ask(text, nodes)

    def _ask(self, text: Text, nodes: list[int]) -> None:
        """Notes who asks for which token after which node."""
        request = text.request
        for number, position in enumerate(range(request.start, len(request.ids))):
            following = self.asked.setdefault(nodes[position - 1], {})
            following.setdefault(request.ids[position], []).append((text.key, number))

    def ancestors(self) -> Iterator[list[int]]:
        """For each node, itself and the nodes above it."""
        lines: list[list[int]] = []
        for node, parent in enumerate(self.parents):
            lines.append([*(lines[parent] if parent >= 0 else []), node])
        yield from lines


def common(left: Iterable[int], right: Iterable[int]) -> int:
    """How many tokens two texts begin with alike."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return sum(1 for _ in alike)


def families(
    requests: Mapping[str, CausalTokens], largest: int = LARGEST, worth: int = WORTH_SHARING
) -> Iterator[list[Text]]:
    """Texts whose tree has at most `largest` nodes, each sharing `worth` of them with the last."""
    family: list[Text] = []
    size = 0
    texts = (Text(key, request) for key, request in requests.items())
    for text in sorted(texts, key=lambda text: text.ids):
        shared = common(family[-1].ids, text.ids) if family else 0
        if family and (shared < worth or size + len(text) - shared > largest):
            yield family
            family, size, shared = [], 0, 0
        family.append(text)
        size += len(text) - shared
    if family:
        yield family


def grown(texts: Iterable[Text]) -> Tree:
    tree = Tree()
    for text in texts:
        tree.add(text)
    return tree


def trees(requests: Mapping[str, CausalTokens]) -> list[Tree]:
    """Every text in some tree."""
    return [grown(family) for family in families(requests)]


def whole(requests: Mapping[str, CausalTokens]) -> list[Tree]:
    """Every text as a line of its own, up to its last token: what some models give a token depends
    on how long the text is."""
    lines = [grown([Text(key, request)]) for key, request in requests.items()]
    for line, request in zip(lines, requests.values(), strict=True):
        line.parents.append(len(line) - 1)
        line.depths.append(len(line))
        line.tokens.append(request.ids[-1])
    return lines
