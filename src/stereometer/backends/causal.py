"""Causal language models: each token given all before it, texts that begin alike computed together."""

from __future__ import annotations

import inspect
import logging
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from stereometer.backends.checkpoint import Checkpoint
from stereometer.backends.forward import CPU_TOKENS, logprobs, shrinking, token_budget
from stereometer.backends.language_model import LanguageModel
from stereometer.backends.trie import Asked, Tree, trees
from stereometer.types import Answer, CausalTokens, Request

LOG = logging.getLogger("stereometer")
TOLERANCE = 2e-4
PADDING = 1.10
"""Trees in a batch may differ in size by this factor; what is missing is filled with nodes that nobody sees."""


class Causal(LanguageModel):
    """Any model of AutoModelForCausalLM."""

    supports = frozenset({CausalTokens.kind})

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        super().__init__(checkpoint, notes)
        told = set(inspect.signature(self.model.base_model.forward).parameters)
        self.shares: bool | None = None if {"position_ids", "attention_mask"} <= told else False
        """Whether this model takes trees: None until the first batch has shown it."""

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        asked = {
            key: request for key, request in requests.items() if isinstance(request, CausalTokens) and len(request.ids) > request.start
        }
        for key in requests.keys() - asked.keys():
            yield key, Answer(({"logprob": array("d")},))
        values = {key: array("d", bytes(8 * (len(request.ids) - request.start))) for key, request in asked.items()}
        open_ = {key: len(row) for key, row in values.items()}
        if self.shares is None and asked:
            self.shares = self._takes_trees(asked)
        for batch in similar_size(trees(asked, bool(self.shares)), token_budget(self.model)):
            for part in shrinking(batch, self._batch):
                for (key, number), value in part:
                    values[key][number] = value
                    open_[key] -= 1
                    if not open_[key]:
                        yield key, Answer(({"logprob": values.pop(key)},))

    def _takes_trees(self, asked: Mapping[str, CausalTokens]) -> bool:
        """Whether a tree gives the same numbers as its texts one by one; otherwise texts are computed one by one."""
        tree = max(trees(asked), key=len)
        some = {key: asked[key] for tokens in tree.asked.values() for places in tokens.values() for key, _ in places}
        alone = dict(place for one in trees(some, share=False) for place in self._batch([one]))
        try:
            together = dict(self._batch([tree]))
            error = max(abs(together[place] - alone[place]) for place in alone)
        except Exception as problem:  # an interface that only looked familiar
            LOG.info("trees failed: %s", problem)
            return False
        return error < TOLERANCE

    @torch.inference_mode()
    def _batch(self, batch: list[Tree]) -> list[tuple[Asked, float]]:
        states = self._states(batch)
        spots = [(index, node) for index, tree in enumerate(batch) for node in tree.asked]
        targets = [list(batch[index].asked[node]) for index, node in spots]
        where = torch.tensor([spot[0] for spot in spots]), torch.tensor([spot[1] for spot in spots])
        values = logprobs(self.model, states[where], targets)
        return [
            (place, value)
            for (index, node), tokens, row in zip(spots, targets, values, strict=True)
            for token, value in zip(tokens, row, strict=True)
            for place in batch[index].asked[node][token]
        ]

    def _states(self, batch: list[Tree]) -> Tensor:
        device, dtype = (getattr(next(self.model.parameters()), name) for name in ("device", "dtype"))
        length = max(map(len, batch))
        ids = torch.zeros(len(batch), length, dtype=torch.long)
        for row, tree in enumerate(batch):
            ids[row, : len(tree)] = torch.tensor(tree.tokens)
        inputs: dict[str, Any] = {"input_ids": ids.to(device), "use_cache": False}
        if self.shares is not False:
            inputs |= _layout(batch, length, dtype, device)
        found: Tensor = self.model.base_model(**inputs)[0]
        return found


def _layout(batch: list[Tree], length: int, dtype: torch.dtype, device: torch.device) -> dict[str, Tensor]:
    """Where each node stands, and which nodes it sees; plain texts of one length need neither."""
    if all(tree.parents == list(range(-1, length - 1)) for tree in batch):
        return {}
    sees = torch.zeros(len(batch), 1, length, length, dtype=torch.bool)
    depths = torch.zeros(len(batch), length, dtype=torch.long)
    for row, tree in enumerate(batch):
        depths[row, : len(tree)] = torch.tensor(tree.depths)
        for node, line in enumerate(tree.ancestors()):
            sees[row, 0, node, line] = True
    own = torch.arange(length)
    sees[:, 0, own, own] = True  # a filler sees itself: a row of nothing would be a division by zero
    mask = torch.zeros(sees.shape, dtype=dtype).masked_fill_(~sees, torch.finfo(dtype).min)
    return {"attention_mask": mask.to(device), "position_ids": depths.to(device)}


def similar_size(found: list[Tree], budget: int) -> Iterator[list[Tree]]:
    """Batches of trees of nearly the same size, largest first."""
    group: list[Tree] = []
    for tree in sorted(found, key=len, reverse=True):
        if group and (len(tree) * PADDING < len(group[0]) or (len(group) + 1) * len(group[0]) > min(budget, CPU_TOKENS)):
            yield group
            group = []
        group.append(tree)
    if group:
        yield group
