"""Causal language models: each token given all before it, texts that begin alike computed together."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from stereometer.backends.local.blanks import next_ways
from stereometer.backends.local.checkpoint import Checkpoint
from stereometer.backends.local.forward import token_budget
from stereometer.backends.local.generation import Writer
from stereometer.backends.local.language_model import LanguageModel, Way
from stereometer.backends.local.lean import decoder_for, head_for
from stereometer.backends.local.memory import shrinking
from stereometer.backends.local.trie import LARGEST, Asked, Text, Tree, families, grown, trees
from stereometer.errors import ModelError
from stereometer.types import Answer, CausalTokens, Generate

LOG = logging.getLogger("stereometer")
TOLERANCE = 5e-5
"""On a token's log-probability, and as a share of a tenth of one below -10."""
PADDING = 1.10
"""Trees in a batch may differ in size by this factor; what is missing is filled with nodes that nobody sees."""

Values = list[tuple[Asked, float]]
Layout = Callable[[Mapping[str, CausalTokens]], Iterator[Values]]
"""From requests to the values of their tokens, batch by batch."""


class Causal(LanguageModel):
    """Any model of AutoModelForCausalLM."""

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        super().__init__(checkpoint, notes)
        self._must_be_causal()
        self.head = head_for(self.split)
        self.decoder = decoder_for(self.split)
        self.layouts = [*self._layouts(), self.one_by_one]
        """How texts can be computed together, fastest first; one that gives other numbers is struck off."""
        self.proven = 0
        """Texts up to this length have shown that the first of them gives the right numbers."""

    def ways(self) -> Mapping[str, Way]:
        return {
            **next_ways(self.blanks),
            CausalTokens.kind: self.causal_tokens,
            Generate.kind: Writer(self.split, self.tokens).answer,
        }

    def causal_tokens(self, requests: Mapping[str, CausalTokens]) -> Iterator[tuple[str, Answer]]:
        asked = {
            key: request for key, request in requests.items() if len(request.ids) > request.start
        }
        for key in requests.keys() - asked.keys():
            yield key, Answer(({"logprob": array("d")},))
        if not asked:
            return
        layout = self._layout(asked)
        values = {
            key: array("d", bytes(8 * (len(request.ids) - request.start)))
            for key, request in asked.items()
        }
        open_ = {key: len(row) for key, row in values.items()}
        for part in layout(asked):
            for (key, number), value in part:
                values[key][number] = value
                open_[key] -= 1
                if not open_[key]:
                    yield key, Answer(({"logprob": values.pop(key)},))

    @torch.inference_mode()
    def _must_be_causal(self) -> None:
        """A model that looks ahead would give every token away; its name alone does not say that it does not."""
        ids = torch.arange(1, 9, device=self.split.device).unsqueeze(0) % self.split.vocabulary
        other = ids.clone()
        other[0, -1] = (ids[0, -1] + 1) % self.split.vocabulary
        left, right = (self.model(input_ids=one).logits[0, :-1].float() for one in (ids, other))
        known = left.isfinite() & right.isfinite()
        if known.any() and not torch.allclose(
            left[known], right[known], rtol=1e-3, atol=1e-3 * float(left[known].abs().max())
        ):
            raise ModelError(
                f"{self.checkpoint.name} is written as a causal model, but what it says of a token hangs on those after it. "
                "Its likelihoods would mean nothing. Choose a causal model, or load it as the masked model it may be."
            )

    # ------------------------------------------------------------------------------------------ layouts

    def _layout(self, asked: Mapping[str, CausalTokens]) -> Layout:
        """The fastest way that gives the same numbers as texts one by one; longer texts than before show it anew."""
        longest = max(len(request.ids) for request in asked.values())
        if longest > self.proven and len(self.layouts) > 1:
            sample = _branching(asked)
            alone = dict(place for part in self.one_by_one(sample) for place in part)
            while len(self.layouts) > 1 and not self._agrees(self.layouts[0], sample, alone):
                self.layouts.pop(0)
        self.proven = max(self.proven, longest)
        return self.layouts[0]

    def _agrees(
        self, layout: Layout, sample: Mapping[str, CausalTokens], alone: Mapping[Asked, float]
    ) -> bool:
        try:
            together = dict(place for part in layout(sample) for place in part)
            error = max(
                abs(together[place] - value) / max(1.0, abs(value) / 10)
                for place, value in alone.items()
            )
        except Exception as problem:  # an interface or structure that only looked familiar
            LOG.info("%s failed: %s", layout, problem)
            return False
        LOG.info("%s differs by %.2g from texts one by one", layout, error)
        return error < TOLERANCE

    def _layouts(self) -> Iterator[Layout]:
        if self.decoder is not None:
            yield self.in_paths
        if {"position_ids", "attention_mask"} <= self.split.takes:
            yield self.in_trees

    def in_paths(self, asked: Mapping[str, CausalTokens]) -> Iterator[Values]:
        """By the lean decoder: all texts of a batch in one tree."""
        for batch in families(asked, token_budget(self.split), worth=0):
            yield from shrinking(batch, self._paths)

    def in_trees(self, asked: Mapping[str, CausalTokens]) -> Iterator[Values]:
        """By the model itself, told where each node stands and what it sees."""
        for batch in similar_size(trees(asked), token_budget(self.split)):
            yield from shrinking(batch, self._trees)

    def one_by_one(self, asked: Mapping[str, CausalTokens]) -> Iterator[Values]:
        for batch in similar_size(trees(asked, share=False), token_budget(self.split)):
            yield from shrinking(batch, self._texts)

    @torch.inference_mode()
    def _paths(self, batch: list[Text]) -> Values:
        assert self.decoder is not None
        tree = grown(batch)
        return self._values([tree], self.decoder(tree, list(tree.asked)))

    @torch.inference_mode()
    def _trees(self, batch: list[Tree]) -> Values:
        length = max(map(len, batch))
        parameter = next(self.model.parameters())
        return self._rows(
            batch,
            self._states(batch, length, **_told(batch, length, parameter.dtype, parameter.device)),
        )

    @torch.inference_mode()
    def _texts(self, batch: list[Tree]) -> Values:
        return self._rows(batch, self._states(batch, max(map(len, batch))))

    def _states(self, batch: Sequence[Tree], length: int, **told: Tensor) -> Tensor:
        ids = torch.zeros(len(batch), length, dtype=torch.long)
        for row, tree in enumerate(batch):
            ids[row, : len(tree)] = torch.tensor(tree.tokens)
        return self.split.trunk(input_ids=ids.to(self.split.device), use_cache=False, **told)

    def _rows(self, batch: Sequence[Tree], states: Tensor) -> Values:
        """From the states of all nodes to the values of the asked ones."""
        spots = torch.tensor([(row, node) for row, tree in enumerate(batch) for node in tree.asked])
        return self._values(batch, states[spots[:, 0], spots[:, 1]])

    def _values(self, batch: Sequence[Tree], states: Tensor) -> Values:
        asked = [tokens for tree in batch for tokens in tree.asked.values()]
        values = self.head(states, [list(tokens) for tokens in asked])
        return [
            (place, value)
            for tokens, row in zip(asked, values, strict=True)
            for places, value in zip(tokens.values(), row, strict=True)
            for place in places
        ]


def _branching(asked: Mapping[str, CausalTokens]) -> dict[str, CausalTokens]:
    """Texts that show whether trees are understood: the largest family, and the longest text with branches of its own."""
    found = {text.key: text.request for text in max(families(asked), key=len)}
    longest = max((request.ids for request in asked.values()), key=len)
    ids = longest[: LARGEST - 8]  # deep, and still with room in its tree for short branches
    branches = [
        longest,
        ids,
        *(ids[:at] + ids[at:][::-1] for at in sorted({1, len(ids) // 2, max(1, len(ids) - 6)})),
    ]
    return found | {
        f"branch {number}": CausalTokens(branch, 1)
        for number, branch in enumerate(branches)
        if len(branch) > 1
    }


def _told(
    batch: list[Tree], length: int, dtype: torch.dtype, device: torch.device
) -> dict[str, Tensor]:
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
    sees[:, 0, own, own] = (
        True  # a filler sees itself: a row of nothing would be a division by zero
    )
    mask = torch.zeros(sees.shape, dtype=dtype).masked_fill_(~sees, torch.finfo(dtype).min)
    return {"attention_mask": mask.to(device), "position_ids": depths.to(device)}


def similar_size(found: list[Tree], budget: int) -> Iterator[list[Tree]]:
    """Batches of trees of nearly the same size, largest first."""
    group: list[Tree] = []
    for tree in sorted(found, key=len, reverse=True):
        if group and (
            len(tree) * PADDING < len(group[0]) or (len(group) + 1) * len(group[0]) > budget
        ):
            yield group
            group = []
        group.append(tree)
    if group:
        yield group
