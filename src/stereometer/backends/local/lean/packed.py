"""Texts in one row: the model's own layers over all tokens of a batch, attention text by text.

Linear layers, norms and activations work on rows and do not care which text a row belongs to. Only
attention does. transformers lets an attention function be registered by name; this one gathers
every text's queries, keys and values from the row and hands texts of one length to the function
that the model had before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from math import ceil
from typing import Any

import torch
from torch import Tensor

from stereometer.backends.local.forward import Texts
from stereometer.backends.local.lean.parts import blocks
from stereometer.backends.local.trie import Line, Tree

NAME = "stereometer-packed"
STEP = 16
"""Texts are filled up to a multiple of this for attention, which then gives a node the same numbers
to the last bit in every text that goes through it."""
Rows = Tensor | slice


@dataclass(frozen=True)
class Paths:
    """Texts of one length: the nodes they go through, and where each node's result comes from."""

    through: Rows
    count: int
    length: int
    nodes: Rows
    places: Rows


def paths_of(tree: Tree) -> list[Paths]:
    """The texts of a tree by length, filled up to whole steps; a shared node is taken from the text
    that brought it."""

    def length(line: Line) -> int:
        return STEP * ceil(len(line.nodes) / STEP)

    by_length = groupby(sorted(tree.lines, key=length), length)
    return [_paths(size, list(lines)) for size, lines in by_length]


def _paths(length: int, lines: list[Line]) -> Paths:
    through = torch.tensor(
        [
            node
            for line in lines
            for node in line.nodes + line.nodes[-1:] * (length - len(line.nodes))
        ]
    )
    owned = [
        (node, row * length + at)
        for row, line in enumerate(lines)
        for at, node in enumerate(line.nodes)
        if at >= line.shared
    ]
    nodes, places = (torch.tensor(column) for column in zip(*owned, strict=True))
    return Paths(through, len(lines), length, nodes, places)


def paths_alone(ids: Texts) -> list[Paths]:
    """Texts that share nothing, those of one length side by side."""
    return [
        Paths(block.tokens, block.count, block.length, block.tokens, slice(None))
        for block in blocks(ids)
    ]


class Kept(Exception):
    """Keys and values are there; what comes after attention is not wanted."""


@dataclass
class Packing:
    """How the texts of a batch lie in the row, while the model runs over it."""

    paths: Sequence[Paths]
    before: str
    """The name of the attention function that the model had."""
    asked: Tensor
    keeps: bool = False
    kept: tuple[Tensor, Tensor] | None = field(default=None)
    """Keys and values of all rows, where queries come of the asked rows only."""

    @property
    def longest(self) -> int:
        return max(texts.length for texts in self.paths)

    def attend(
        self, module: Any, parts: Sequence[Tensor], mask: Tensor | None, options: dict[str, Any]
    ) -> Tensor:
        """Attention of every row to the rows of its text."""
        function = self._function(module)
        mixed: Tensor | None = None
        for texts in self.paths:
            gathered = [
                taken(part, texts.through).unflatten(0, (texts.count, texts.length)).transpose(1, 2)
                for part in parts
            ]
            seen = None if mask is None else mask[..., : texts.length, : texts.length]
            states = function(module, *gathered, seen, **options)[0].flatten(0, 1)
            if mixed is None:
                mixed = states.new_zeros(len(parts[0]), *states.shape[1:])
            put(mixed, texts.nodes, taken(states, texts.places))
        assert mixed is not None
        return mixed

    def _function(self, module: Any) -> Callable[..., tuple[Tensor, Any]]:
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

        own: Any = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
        function: Callable[..., tuple[Tensor, Any]] = ALL_ATTENTION_FUNCTIONS.get_interface(
            self.before, own
        )
        return function


def taken(rows: Tensor, where: Rows) -> Tensor:
    """`index_select` takes a fifth of the time of indexing."""
    return rows[where] if isinstance(where, slice) else rows.index_select(0, where)


def put(rows: Tensor, where: Rows, values: Tensor) -> None:
    if isinstance(where, slice):
        rows[where] = values
    else:
        rows.index_copy_(0, where, values)


# ------------------------------------------------------------------------------- what is registered

_PACKING: ContextVar[Packing] = ContextVar("packing")


@contextmanager
def packing(now: Packing) -> Iterator[Packing]:
    before = _PACKING.set(now)
    try:
        yield now
    finally:
        _PACKING.reset(before)


def current() -> Packing:
    return _PACKING.get()


@cache
def register() -> None:
    """Makes both functions known to transformers under a name that no model has by itself."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, _mask)


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, None]:
    now = current()
    queries, keys, values = (part[0].transpose(0, 1) for part in (query, key, value))
    if now.keeps:
        now.kept = keys, values
        raise Kept
    if now.kept is None:
        return now.attend(module, (queries, keys, values), attention_mask, options)[None], None
    every = queries.new_zeros(len(now.kept[0]), *queries.shape[1:]).index_copy_(
        0, now.asked, queries
    )
    mixed = now.attend(module, (every, *now.kept), attention_mask, options)
    return mixed.index_select(0, now.asked)[None], None


def _mask(*, mask_function: Callable[..., Tensor], **asked: Any) -> Tensor | None:
    """The mask of one plain text as long as the longest, by what the model used before."""
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    now = current()
    plain = {"q_length": now.longest, "kv_length": now.longest, "attention_mask": None}
    mask: Tensor | None = ALL_MASK_ATTENTION_FUNCTIONS[now.before](
        mask_function=mask_function, **asked | plain
    )
    return mask
