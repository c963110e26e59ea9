"""A twin of a model's trunk that reads texts packed into one row: its weights are the model's."""

from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from itertools import accumulate, chain
from typing import Any

import torch
from torch import Tensor

from stereometer.models.local.batches import Tree, grouped
from stereometer.models.local.forward import ENOUGH_ROWS, SplitModel, Texts, noting_calls
from stereometer.models.local.lean import packed
from stereometer.models.local.lean.written_out import Spots

BEFORE = ("sdpa", "eager")
"""Attention functions that can be handed a few texts at a time."""

APART = 1e-4
"""By how much a text's states may differ between a row of its own and a shared one, as a share of
the largest where that is above one."""

MOST = 0.8
"""Of the rows: where more are asked, all go through the last layer in less time than all up to
attention and the asked ones once more."""


class Twin:
    """The trunk's own layers over a row of tokens, with attention by text."""

    def __init__(self, split: SplitModel) -> None:
        packed.register()
        self.before = str(split.inner.config._attn_implementation)
        if self.before not in BEFORE or "position_ids" not in split.takes:
            raise TypeError(f"attention by {self.before} cannot be packed")
        self.takes = split.takes
        self.last = _last_layer(split)
        self.trunk = _shared(split.inner)
        if self.last is not None:
            layer = self.trunk.get_submodule(self.last)
            layer.forward = _AtAsked(layer.forward)
            if not self._takes_fewer_rows():
                del layer.forward
                self.last = None
        if not self._keeps_texts_apart(split):
            raise TypeError("texts in one row would see each other")

    @torch.inference_mode()
    def _keeps_texts_apart(self, split: SplitModel) -> bool:
        """Whether each of two texts in one row gets the states that it has alone: attention that is
        not handed over to us mixes them, which a single text would not show."""
        texts = [[1 + step * number % 7 for number in range(ENOUGH_ROWS)] for step in (1, 2)]
        spots = [(number, at) for number in (0, 1) for at in range(ENOUGH_ROWS)]
        together = self.texts(texts, None, spots)
        alone = torch.cat([split.trunk(**split.inputs([text], None))[0] for text in texts])
        tolerance = APART * max(1.0, float(alone.abs().max()))
        return bool((together - alone).abs().max() < tolerance)

    @torch.inference_mode()
    def _takes_fewer_rows(self) -> bool:
        """Whether rows may lack after the last layer: some trunks restore their input's shape."""
        tokens = [1] * (2 * ENOUGH_ROWS)
        asked = torch.arange(ENOUGH_ROWS)
        try:
            states = self._states(
                packed.paths_alone([tokens]), asked, tokens, list(range(len(tokens))), segments=None
            )
        except RuntimeError:
            return False
        return len(states) == len(asked)

    def tree(self, tree: Tree, asked: Sequence[int]) -> Tensor:
        """States at the asked nodes of a tree."""
        return self._states(
            packed.paths_of(tree), torch.tensor(asked), tree.tokens, tree.depths, segments=None
        )

    def texts(self, ids: Texts, segments: Texts | None, spots: Spots) -> Tensor:
        """States at the asked places of some texts, as many at a time as stay in the cache."""
        parts = grouped(
            range(len(ids)),
            lambda group, text: sum(len(ids[number]) for number in (*group, text)) > packed.ROWS,
        )
        return torch.cat([self._part(ids, segments, spots, part) for part in parts])

    def _part(
        self, ids: Texts, segments: Texts | None, spots: Spots, numbers: Sequence[int]
    ) -> Tensor:
        chosen = [ids[number] for number in numbers]
        starts = dict(zip(numbers, accumulate(map(len, chosen), initial=0), strict=False))
        asked = [starts[text] + at for text, at in spots if text in starts]
        if not asked:
            return torch.empty(0)
        kinds = None if segments is None else [segments[number] for number in numbers]
        return self._states(
            packed.paths_alone(chosen),
            torch.tensor(asked),
            list(chain.from_iterable(chosen)),
            list(chain.from_iterable(range(len(text)) for text in chosen)),
            None if kinds is None else list(chain.from_iterable(kinds)),
        )

    def _states(
        self,
        paths: Sequence[packed.Paths],
        asked: Tensor,
        tokens: list[int],
        positions: list[int],
        segments: list[int] | None,
    ) -> Tensor:
        """Few rows are filled up with rows that nobody sees, for the sake of ENOUGH_ROWS."""
        count, filler = len(asked), [0] * (ENOUGH_ROWS - len(tokens))
        ids = torch.tensor([tokens + filler])
        asked = torch.cat([asked, asked[-1:].expand(max(0, ENOUGH_ROWS - count))])
        inputs = {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "position_ids": torch.tensor([positions + filler]),
        }
        if segments is not None and "token_type_ids" in self.takes:
            inputs["token_type_ids"] = torch.tensor([segments + filler])
        if "use_cache" in self.takes:
            inputs["use_cache"] = False  # type: ignore[assignment]
        with packed.packing(packed.Packing(paths, self.before, asked)):
            states: Tensor = self.trunk(**inputs)[0][0]
        at_asked = states if self.last is not None else states.index_select(0, asked)
        return at_asked[:count]


class _AtAsked:
    """A layer that is computed to its end for the asked rows only.

    It runs up to attention over all rows, where keys and values are kept; then over the asked rows.
    """

    def __init__(self, forward: Any) -> None:
        self.forward = forward

    def __call__(self, states: Tensor, *others: Any, **named: Any) -> Any:
        now, rows = packed.current(), states.shape[1]
        if len(now.asked) > MOST * rows:
            return _asked(self.forward(states, *others, **named), now.asked, rows)
        now.keeps = True
        with suppress(packed.StopAfterKeys):
            self.forward(states, *others, **named)
        now.keeps = False
        return self.forward(
            states.index_select(1, now.asked),
            *(_asked(part, now.asked, rows) for part in others),
            **{name: _asked(part, now.asked, rows) for name, part in named.items()},
        )


def _asked(part: Any, asked: Tensor, rows: int) -> Any:
    """What a layer is told of each row, of the asked ones."""
    if isinstance(part, tuple):
        return tuple(_asked(piece, asked, rows) for piece in part)
    if isinstance(part, Tensor) and part.dim() > 1 and part.shape[:2] == (1, rows):
        return part.index_select(1, asked)
    return part


def _shared(trunk: Any) -> Any:
    """Modules and configuration of its own, weights and buffers of the model."""
    tensors = chain(trunk.parameters(), trunk.buffers())
    twin = deepcopy(trunk, {id(tensor): tensor for tensor in tensors})
    for part in twin.modules():
        if hasattr(part, "config"):
            part.config._attn_implementation_internal = packed.NAME
    return twin


def _last_layer(split: SplitModel) -> str | None:
    """The name of the last of the trunk's layers, where each is called once."""
    lists = (part for part in split.inner.modules() if isinstance(part, torch.nn.ModuleList))
    layers = next(lists, torch.nn.ModuleList())
    with noting_calls(layers) as called, torch.inference_mode():
        split.inner(input_ids=split.probe())
    if not called or called != list(layers):
        return None
    names: dict[int, str] = {id(part): name for name, part in split.inner.named_modules()}
    return names[id(called[-1])]
