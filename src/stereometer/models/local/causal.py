"""Causal language models: each token given all before it, shared beginnings computed once."""

import logging
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import torch
from torch import Tensor

from stereometer.core.errors import ModelError
from stereometer.core.types import Answer, CausalTokens, Generate, Options
from stereometer.models.local.batches import (
    LARGEST,
    CausalText,
    Tree,
    each,
    families,
    grouped,
    grown,
    trees,
    whole,
)
from stereometer.models.local.checkpoint import Checkpoint
from stereometer.models.local.forward import token_budget
from stereometer.models.local.generation import Writer
from stereometer.models.local.language_model import LanguageModel, Place, Values, Way, completed
from stereometer.models.local.lean.choice import Decoder, decoders_for
from stereometer.models.local.lean.packed import ROWS

LOG = logging.getLogger("stereometer")
TOLERANCE = 5e-5
"""On a token's log-probability, and as a share of a tenth of one below -10."""
PADDING = 1.10
"""Trees in a batch may differ in size by this factor; the rest is nodes that nobody sees."""
FAMILY = 8
"""Texts of a family that a layout is judged by: each goes through the model by itself as well."""

Asked = Mapping[str, CausalTokens]
Layout = Callable[[Asked], Iterator[Values]]
"""From requests to the values of their tokens, batch by batch."""


class Causal(LanguageModel):
    """Any model of AutoModelForCausalLM."""

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        super().__init__(checkpoint, notes)
        self._must_be_causal()
        self.layouts = [*self._layouts(), self.alone]
        """How texts can be computed together, fastest first; a wrong one is struck off."""
        self.proven = 0
        """Texts up to this length have shown that the first of them gives the right numbers."""

    def ways(self) -> Mapping[str, Way]:
        writer = Writer(self.split, self.tokens, **self.how_to_think)
        return {
            **self.blanks.next_ways(),
            CausalTokens.kind: self.causal_tokens,
            Generate.kind: writer.answer,
            Options.kind: writer.answer,
        }

    def causal_tokens(self, requests: Asked) -> Iterator[tuple[str, Answer]]:
        lengths = {key: len(request.ids) - request.start for key, request in requests.items()}
        asked = {key: request for key, request in requests.items() if lengths[key] > 0}
        for key in requests.keys() - asked.keys():
            yield key, Answer(({"logprob": array("d")},))
        if asked:
            kept = {key: lengths[key] for key in asked}
            yield from completed(kept, self.layout(asked)(asked))

    @torch.inference_mode()
    def _must_be_causal(self) -> None:
        """A model that looks ahead would give every token away, whatever its name."""
        ids = self.split.probe()
        other = ids.clone()
        other[0, -1] = (ids[0, -1] + 1) % self.split.vocabulary
        left, right = (self.model(input_ids=text).logits[0, :-1].float() for text in (ids, other))
        known = left.isfinite() & right.isfinite()
        left, right = left[known], right[known]
        if known.any() and not torch.allclose(
            left, right, rtol=1e-3, atol=1e-3 * float(left.abs().max())
        ):
            raise ModelError(
                f"{self.checkpoint.name} is configured as a causal model, but what it gives a "
                "token depends on the tokens after it. Its likelihoods would mean nothing. Choose "
                "a causal model, or load it as a masked one if that is what it is."
            )

    # ---------------------------------------------------------------------------------- layouts

    def layout(self, asked: Asked) -> Layout:
        """The fastest that gives the numbers of texts alone, checked again for longer texts."""
        longest = max(len(request.ids) for request in asked.values())
        if longest > self.proven and len(self.layouts) > 1:
            sample = _branching(asked)
            alone = dict(place for part in self.alone(sample) for place in part)
            while len(self.layouts) > 1 and not _agrees(self.layouts[0], sample, alone):
                self.layouts.pop(0)
        self.proven = max(self.proven, longest)
        return self.layouts[0]

    def _layouts(self) -> Iterator[Layout]:
        for decoder in decoders_for(self.split):
            yield partial(self.in_paths, decoder)
        if {"position_ids", "attention_mask"} <= self.split.takes:
            yield self.in_trees
        yield self.in_rows

    def in_paths(self, decoder: Decoder, asked: Asked) -> Iterator[Values]:
        """By a lean decoder: all texts of a batch in one tree."""
        return each(families(asked, ROWS, worth=0), partial(self._paths, decoder))

    def in_trees(self, asked: Asked) -> Iterator[Values]:
        """By the model itself, told where each node stands and what it sees."""
        return each(similar_size(trees(asked), token_budget(self.split)), self._trees)

    def in_rows(self, asked: Asked) -> Iterator[Values]:
        """Texts of one length beside each other: no padding, which some models take for text."""
        return each(similar_size(whole(asked), token_budget(self.split), 1.0), self._texts)

    def alone(self, asked: Asked) -> Iterator[Values]:
        """Every text by itself: the other layouts are judged by it."""
        return each(([text] for text in whole(asked)), self._texts)

    @torch.inference_mode()
    def _paths(self, decoder: Decoder, batch: list[CausalText]) -> Values:
        tree = grown(batch)
        return self.values_at([tree], decoder(tree, list(tree.asked)))

    @torch.inference_mode()
    def _trees(self, batch: list[Tree]) -> Values:
        shape = _shape(batch, self.split.dtype)
        return self.values_at(batch, self._states(batch, **shape))

    @torch.inference_mode()
    def _texts(self, batch: list[Tree]) -> Values:
        return self.values_at(batch, self._states(batch))

    def _states(self, batch: Sequence[Tree], **shape: Tensor) -> Tensor:
        """Of the asked nodes."""
        ids = torch.zeros(len(batch), max(map(len, batch)), dtype=torch.long)
        for row, tree in enumerate(batch):
            ids[row, : len(tree)] = torch.tensor(tree.tokens)
        inputs = {"input_ids": ids, **shape}
        on_device = {name: value.to(self.split.device) for name, value in inputs.items()}
        states = self.split.trunk(**on_device, use_cache=False)
        spots = torch.tensor([(row, node) for row, tree in enumerate(batch) for node in tree.asked])
        return states[spots[:, 0], spots[:, 1]]


def _agrees(layout: Layout, sample: Asked, alone: Mapping[Place, float]) -> bool:
    """Whether a layout gives the numbers of texts alone."""
    try:
        together = dict(place for part in layout(sample) for place in part)
        error = max(
            abs(together[place] - value) / max(1.0, abs(value) / 10)
            for place, value in alone.items()
        )
    except Exception as problem:  # an interface or structure that only looked familiar
        LOG.info("%s failed: %s", layout, problem)
        return False
    LOG.info("%s differs by %.2g from texts alone", layout, error)
    return error < TOLERANCE


def _branching(asked: Asked) -> dict[str, CausalTokens]:
    """Texts that show whether trees are understood: some of the largest family, and the longest
    text with some branches and its own beginning alone, whose numbers must not depend on its
    company."""
    family = {text.key: text.request for text in max(families(asked), key=len)[:FAMILY]}
    longest = max((request.ids for request in asked.values()), key=len)
    ids = longest[: LARGEST - 8]  # deep, and still with room in its tree for short branches
    forks = sorted({1, len(ids) // 2, max(1, len(ids) - 6)})
    branches = [longest, ids, ids[:3], *(ids[:at] + ids[at:][::-1] for at in forks)]
    return family | {
        f"branch {number}": CausalTokens(branch, 1 if number else len(branch) // 2 or 1)
        for number, branch in enumerate(branches)
        if len(branch) > 1
    }


def _shape(batch: list[Tree], dtype: torch.dtype) -> dict[str, Tensor]:
    """Where each node stands, and which nodes it sees; plain texts of one length need neither."""
    length = max(map(len, batch))
    if all(tree.parents == list(range(-1, length - 1)) for tree in batch):
        return {}
    sees = torch.zeros(len(batch), 1, length, length, dtype=torch.bool)
    depths = torch.zeros(len(batch), length, dtype=torch.long)
    for row, tree in enumerate(batch):
        depths[row, : len(tree)] = torch.tensor(tree.depths)
        for node, line in enumerate(tree.ancestors()):
            sees[row, 0, node, line] = True
    filler = torch.arange(length)
    sees[:, 0, filler, filler] = True  # it sees itself: a row of nothing would divide by zero
    mask = torch.zeros(sees.shape, dtype=dtype).masked_fill_(~sees, torch.finfo(dtype).min)
    return {"attention_mask": mask, "position_ids": depths}


def similar_size(texts: list[Tree], budget: int, padding: float = PADDING) -> Iterator[list[Tree]]:
    """Batches of trees of nearly the same size, largest first."""
    return grouped(
        sorted(texts, key=len, reverse=True),
        lambda group, tree: (
            len(tree) * padding < len(group[0]) or (len(group) + 1) * len(group[0]) > budget
        ),
    )
