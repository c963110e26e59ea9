"""Texts in one row: the model's own layers over all tokens of a batch, attention text by text.

Linear layers, norms and activations work on rows and do not care which text a row belongs to. Only
attention does. transformers lets an attention function be registered by name; this one gathers
every text's queries, keys and values from the row and hands texts of one length to the function
that the model had before.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import groupby
from math import ceil
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from stereometer.models.local.batches import Tree, TreePath
from stereometer.models.local.forward import Texts

NAME = "stereometer-packed"
ROWS = 1024
"""Tokens that go through a feed-forward layer at once: its widest state then stays in the cache."""
STEP = 16
"""Texts are filled up to a multiple of this for attention, which then gives a node the same numbers
to the last bit in every text that goes through it."""
QUERIES = 8
"""Queries of a text are filled up to a multiple of this, for the same reason."""
Rows = Tensor | slice
PLAIN = SimpleNamespace(num_key_value_groups=1, is_causal=False, training=False)
"""What an attention function asks its module, where every head has keys of its own."""


@dataclass(frozen=True)
class TextBlock:
    """Consecutive texts of one length in a row of tokens."""

    text: int
    token: int
    count: int
    length: int

    @property
    def texts(self) -> range:
        return range(self.text, self.text + self.count)

    @property
    def tokens(self) -> slice:
        return slice(self.token, self.token + self.count * self.length)


def blocks(ids: Texts) -> Iterator[TextBlock]:
    text = token = 0
    for length, texts in groupby(ids, len):
        count = len(list(texts))
        yield TextBlock(text, token, count, length)
        text, token = text + count, token + count * length


@dataclass(frozen=True)
class Paths:
    """Texts of one length: the nodes they go through, those of them whose queries are asked, and
    where each node's result comes from."""

    through: Rows
    count: int
    length: int
    nodes: Rows
    places: Rows
    asking: Rows
    positions: Tensor | None = None
    """Where in its text each asking node stands, where not all of them ask."""

    @cached_property
    def before(self) -> Tensor:
        """What the asking nodes of a causal model see, to be added."""
        assert self.positions is not None
        return added(self.positions[:, None, :, None] >= torch.arange(self.length))


def paths_of(tree: Tree) -> list[Paths]:
    """The texts of a tree, filled up to steps; a shared node asks in the text it came with."""
    by_size = groupby(sorted(tree.lines, key=_size), _size)
    return [_paths(*size, list(lines)) for size, lines in by_size]


def _size(line: TreePath) -> tuple[int, int]:
    """Places that a text takes for its keys, and for the queries that it brought."""
    length = len(line.nodes)
    return STEP * ceil(length / STEP), QUERIES * ceil((length - line.shared) / QUERIES)


def _paths(length: int, queries: int, lines: list[TreePath]) -> Paths:
    through = [_filled(line.nodes, length) for line in lines]
    asking = [_filled(line.nodes[line.shared :], queries) for line in lines]
    positions = [_filled(range(line.shared, len(line.nodes)), queries) for line in lines]
    places = [
        row * queries + number
        for row, line in enumerate(lines)
        for number in range(len(line.nodes) - line.shared)
    ]
    asked = torch.tensor(asking).flatten()
    where = torch.tensor(places)
    return Paths(
        torch.tensor(through).flatten(),
        len(lines),
        length,
        asked[where],
        where,
        asked,
        torch.tensor(positions),
    )


def _filled(numbers: Sequence[int], count: int) -> list[int]:
    """Numbers, and the last of them again."""
    return [*numbers, *[numbers[-1]] * (count - len(numbers))]


def paths_alone(ids: Texts) -> list[Paths]:
    """Texts that share nothing, those of one length side by side."""
    return [
        Paths(block.tokens, block.count, block.length, block.tokens, slice(None), block.tokens)
        for block in blocks(ids)
    ]


class StopAfterKeys(Exception):
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

    masks: dict[tuple[int, int, int], tuple[Tensor | None, Tensor]] = field(default_factory=dict)
    """What the asking nodes of some texts see, by the texts and the model's mask, which is kept
    with it so that its id stays its own."""

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
            alike = self._alike(texts, parts, mask, options)
            gathered = (
                stacked(parts[0], texts, alike),
                *(by_text(part, texts.through, texts.count) for part in parts[1:]),
            )
            seen = self._seen(texts, mask, alike)
            states = function(PLAIN if alike > 1 else module, *gathered, seen, **options)[0]
            rows = unstacked(states, texts, alike)
            if mixed is None:
                mixed = rows.new_zeros(len(parts[0]), *rows.shape[1:])
            put(mixed, texts.nodes, rows)
        assert mixed is not None
        return mixed

    def _alike(
        self, texts: Paths, parts: Sequence[Tensor], mask: Tensor | None, options: dict[str, Any]
    ) -> int:
        """How many heads that share keys go in as rows of one head: fewer, larger products."""
        is_plain = (
            self.before == "sdpa"
            and texts.positions is not None
            and (mask is None or mask.shape[1] == 1)
            and options.get("position_bias") is None
        )
        return parts[0].shape[1] // parts[1].shape[1] if is_plain else 1

    def _seen(self, texts: Paths, mask: Tensor | None, alike: int) -> Tensor | None:
        """The rows of the model's mask for the asking nodes; without one, what is before them."""
        if texts.positions is None:
            return None if mask is None else mask[..., : texts.length, : texts.length]
        key = id(texts), id(mask), alike
        if key not in self.masks:
            seen = texts.before
            if mask is not None:
                rows = mask[0, :, : texts.length, : texts.length][:, texts.positions]
                seen = added(rows.transpose(0, 1))
            self.masks[key] = mask, seen.repeat_interleave(alike, dim=2)
        return self.masks[key][1]

    def _function(self, module: Any) -> Callable[..., tuple[Tensor, Any]]:
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

        own: Any = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
        function: Callable[..., tuple[Tensor, Any]] = ALL_ATTENTION_FUNCTIONS.get_interface(
            self.before, own
        )
        return function


def added(mask: Tensor) -> Tensor:
    """A mask as numbers that are added, which torch would make of it at every call."""
    if mask.dtype != torch.bool:
        return mask.contiguous()
    return torch.zeros(mask.shape).masked_fill_(~mask, float("-inf"))


def by_text(rows: Tensor, where: Rows, count: int) -> Tensor:
    return taken(rows, where).view(count, -1, *rows.shape[1:]).transpose(1, 2)


def stacked(queries: Tensor, texts: Paths, alike: int) -> Tensor:
    """Queries by text, those of `alike` heads under one another."""
    if alike == 1:
        return by_text(queries, texts.asking, texts.count)
    assert isinstance(texts.asking, Tensor)
    rows, heads, width = queries.shape
    keys = heads // alike
    where = texts.asking.view(texts.count, 1, -1) * keys + torch.arange(keys)[:, None]
    chosen = queries.reshape(rows * keys, alike * width).index_select(0, where.flatten())
    return chosen.view(texts.count, keys, -1, width)


def unstacked(states: Tensor, texts: Paths, alike: int) -> Tensor:
    """The rows of the nodes that texts brought, heads in their order."""
    rows = taken(states.flatten(0, 1).unflatten(0, (-1, alike)), texts.places)
    return rows.transpose(1, 2).flatten(1, 2)


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
        raise StopAfterKeys
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
