"""Texts that go through a model together: in batches, longest first, with little padding or none;
in trees, where what they share is computed once; and in memory that gives way instead of failing.

The candidates of an item share the words before the blank, and its continuations share the context.
A tree is a row of nodes in depth-first order; each node sees itself and its ancestors, and stands
at its depth.
"""

import ctypes
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from typing import Any, Protocol, TypeVar

import torch

from stereometer.core.errors import ModelError
from stereometer.core.types import CausalTokens

Element = TypeVar("Element")


class SizedText(Sized, Protocol):
    @property
    def segments(self) -> tuple[int, ...]: ...


@dataclass
class Text:
    """Token ids that go through the model once."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    asked: dict[Any, Any] = field(default_factory=dict)
    """Who asks what of it: for likelihoods by position, then by token; for all else by request."""
    hidden: tuple[int, ...] = ()
    """Positions that no position sees, in a model that is told so."""

    def __len__(self) -> int:
        return len(self.ids)


AnyText = TypeVar("AnyText", bound=SizedText)


def grouped(
    elements: Iterable[Element], is_full: Callable[[list[Element], Element], bool]
) -> Iterator[list[Element]]:
    """Batches for a model: consecutive elements; one for which a batch is full begins the next."""
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


def segments_of(batch: Sequence[SizedText]) -> list[tuple[int, ...]] | None:
    """The segments of a batch, for a model that reads them; None for single texts."""
    return [text.segments for text in batch] if batch[0].segments else None


def _form(text: SizedText) -> tuple[bool, int]:
    """Whether the model is told of segments, and length."""
    return bool(text.segments), len(text)


# -------------------------------------------------------------------------------------------- trees

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
class CausalText:
    """A request's tokens but the last: nothing is asked after it."""

    key: str
    request: CausalTokens

    @property
    def ids(self) -> tuple[int, ...]:
        return self.request.ids[:-1]

    def __len__(self) -> int:
        return len(self.request.ids) - 1


@dataclass(frozen=True)
class TreePath:
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
    lines: list[TreePath] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, text: CausalText) -> None:
        """Texts must come in the order of their tokens: only the line added last can be shared."""
        ids, last = text.ids, self.lines[-1] if self.lines else TreePath([], 0)
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
            self.lines[-1] = TreePath(nodes, last.shared)
        else:
            self.lines.append(TreePath(nodes, shared))
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
) -> Iterator[list[CausalText]]:
    """Texts whose tree has at most `largest` nodes, each sharing `worth` of them with the last."""
    family: list[CausalText] = []
    size = 0
    texts = (CausalText(key, request) for key, request in requests.items())
    for text in sorted(texts, key=lambda text: text.ids):
        shared = common(family[-1].ids, text.ids) if family else 0
        if family and (shared < worth or size + len(text) - shared > largest):
            yield family
            family, size, shared = [], 0, 0
        family.append(text)
        size += len(text) - shared
    if family:
        yield family


def grown(texts: Iterable[CausalText]) -> Tree:
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
    lines = [grown([CausalText(key, request)]) for key, request in requests.items()]
    for line, request in zip(lines, requests.values(), strict=True):
        line.parents.append(len(line) - 1)
        line.depths.append(len(line))
        line.tokens.append(request.ids[-1])
    return lines


# ------------------------------------------------------------------------------------------- memory

EVERY = 1.0
"""Seconds between two givings back: each takes some ten milliseconds."""
Piece = TypeVar("Piece", bound=Sized)
Outcome = TypeVar("Outcome")
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""As malloc.h numbers them."""
HELD = 2**30
"""Smaller blocks than this come from memory that the process has, and as much of it stays."""
USUAL = 32 * 2**20
"""The highest that glibc goes by itself once large blocks have been freed."""
_given_back = [0.0]
"""When it was last done; the allocator is the process's, and so is this."""


def each(
    batches: Iterable[list[Piece]], run: Callable[[list[Piece]], Outcome]
) -> Iterator[Outcome]:
    """What comes of every batch, or of its parts where memory is short."""
    for batch in batches:
        yield from shrinking(batch, run)


def shrinking(batch: list[Piece], run: Callable[[list[Piece]], Outcome]) -> Iterator[Outcome]:
    """Runs a batch; where memory runs out, its halves; raises where one piece does not fit."""
    try:
        with held():
            outcome = run(batch)
    except (MemoryError, RuntimeError) as error:
        if not is_shortage(error):
            raise
    else:
        give_back()
        yield outcome
        return
    if len(batch) == 1:
        raise ModelError(
            f"A text of {len(batch[0])} tokens does not fit into memory. The model is too large "
            "for this machine. Use a smaller one or another --device."
        )
    half = len(batch) // 2
    yield from each((batch[:half], batch[half:]), run)


def is_shortage(error: Exception) -> bool:
    """Of memory, by whatever name."""
    words = ("allocate memory", "out of memory")
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(
        each in str(error) for each in words
    )


@contextmanager
def held() -> Iterator[None]:
    """Freed memory stays with the process: taken again page by page it costs more than what is
    computed in it. Afterwards the C library does what it does by itself with large blocks."""
    library = _library()
    if library is None:
        yield
        return
    try:
        _set_thresholds(library, HELD, HELD)
        yield
    finally:
        _set_thresholds(library, USUAL, 2 * USUAL)


def _set_thresholds(library: Any, mapped: int, trimmed: int) -> None:
    library.mallopt(M_MMAP_THRESHOLD, mapped)
    library.mallopt(M_TRIM_THRESHOLD, trimmed)


def give_back() -> None:
    """Returns free memory to the system: states of ever other sizes leave holes that add up."""
    library = _library()
    if library is not None and time.monotonic() - _given_back[0] >= EVERY:
        library.malloc_trim(0)
        _given_back[0] = time.monotonic()


@cache
def _library() -> Any:
    """glibc; other allocators do it by themselves."""
    try:
        library = ctypes.CDLL(None)
        return library if library.malloc_trim and library.mallopt else None
    except (AttributeError, OSError, TypeError):  # TypeError: there is no such library on Windows
        return None
