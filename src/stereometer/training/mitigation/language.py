"""What a language model is trained on: texts in tokens, and which of them it must say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from stereometer.backends.local.language_model import LanguageModel
from stereometer.backends.local.masked import Masked
from stereometer.measures.spans import scored_positions
from stereometer.types import Skip

ASKED, SHOWN_AS_MASK, SHOWN_AS_OTHER = 0.15, 0.8, 0.1
"""BERT's training: the share of tokens that is asked, and what stands in the place of most."""


@dataclass(frozen=True)
class Example:
    ids: tuple[int, ...]
    positions: tuple[int, ...]
    """Tokens of the text's own words."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Batch:
    ids: Tensor
    mask: Tensor
    """1 for tokens of a text, 0 for what fills the row."""
    asked: Tensor
    """Whether a position's logits are compared with a token."""
    targets: Tensor
    """The tokens, in the order of the positions."""


def read_example(backend: LanguageModel, text: str) -> Example:
    """Raises Skip for a text that the model cannot read."""
    encoding = backend.encode(text)
    positions = tuple(scored_positions(encoding))
    if not positions[1:]:
        raise Skip("no token to say")
    return Example(encoding.ids, positions)


def batch_of(backend: LanguageModel, examples: Sequence[Example], rng: torch.Generator) -> Batch:
    """As the model's family is trained: some tokens hidden, or each after those before it."""
    length = max(map(len, examples))
    ids = torch.zeros(len(examples), length, dtype=torch.long)
    mask, own = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
    for row, example in enumerate(examples):
        ids[row, : len(example)] = torch.tensor(example.ids)
        mask[row, : len(example)] = 1
        own[row, list(example.positions)] = True
    if isinstance(backend, Masked):
        asked, targets, ids = _hidden(backend, ids, own, rng)
    else:
        own[:, 0] = False
        asked, targets = own.roll(-1, 1), ids[own]
    device = backend.split.device
    return Batch(*(part.to(device) for part in (ids, mask, asked, targets)))


def _hidden(
    backend: Masked, ids: Tensor, own: Tensor, rng: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Which tokens are asked, what they are, and what the model sees instead; at least one a
    text."""
    lot = torch.rand(ids.shape, generator=rng).masked_fill(~own, 2.0)
    asked = (lot < ASKED) | ((lot == lot.amin(1, keepdim=True)) & own)
    shown = torch.rand(ids.shape, generator=rng)
    others = torch.randint(backend.split.vocabulary, ids.shape, generator=rng)
    seen = torch.where(asked & (shown < SHOWN_AS_MASK), backend.mask, ids)
    other = asked & (shown >= SHOWN_AS_MASK) & (shown < SHOWN_AS_MASK + SHOWN_AS_OTHER)
    return asked, ids[asked], torch.where(other, others, seen)
