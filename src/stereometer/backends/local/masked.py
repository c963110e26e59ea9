"""Masked language models: one token's probability in a copy of the text with positions hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import torch

from stereometer.backends.local.batches import packed, segments_of
from stereometer.backends.local.blanks import Way
from stereometer.backends.local.checkpoint import Checkpoint
from stereometer.backends.local.forward import token_budget
from stereometer.backends.local.language_model import (
    LanguageModel,
    Place,
    Values,
    completed,
    placed,
)
from stereometer.backends.local.lean.choice import head_for, trunk_for
from stereometer.backends.local.memory import each
from stereometer.errors import ModelError
from stereometer.types import Answer, MaskedTokens


@dataclass
class Copy:
    """A text with positions hidden, and who asks which token at which position of it."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    asked: dict[int, dict[int, list[Place]]] = field(default_factory=dict)
    """By position, then by token."""

    def __len__(self) -> int:
        return len(self.ids)


def copies(requests: Mapping[str, MaskedTokens], mask: int) -> list[Copy]:
    """Every distinct copy once: candidates that differ only where they are hidden share theirs."""
    by_ids: dict[tuple[tuple[int, ...], ...], Copy] = {}
    for key, request in requests.items():
        for number, (hidden, position) in enumerate(request.steps):
            shown = list(request.ids)
            for at in hidden:
                shown[at] = mask
            ids, segments = tuple(shown), request.segments
            asked = by_ids.setdefault((ids, segments), Copy(ids, segments)).asked
            tokens = asked.setdefault(position, {})
            tokens.setdefault(request.ids[position], []).append((key, number))
    return list(by_ids.values())


class Masked(LanguageModel):
    """Any model of AutoModelForMaskedLM."""

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        super().__init__(checkpoint, notes)
        mask = checkpoint.tokenizer.mask_token_id
        if mask is None:
            raise ModelError(
                f"{checkpoint.name} has no mask token. A masked measure hides tokens behind one. "
                "Choose a masked model, or a measure for causal ones."
            )
        self.mask = int(mask)
        self.trunk = trunk_for(self.split)
        self.head = head_for(self.split)

    def ways(self) -> Mapping[str, Way]:
        blanks = self.blanks.masked_ways(self.trunk, self.mask)
        return {**blanks, MaskedTokens.kind: self.masked_tokens}

    def masked_tokens(self, requests: Mapping[str, MaskedTokens]) -> Iterator[tuple[str, Answer]]:
        lengths = {key: len(request.steps) for key, request in requests.items()}
        batches = packed(copies(requests, self.mask), token_budget(self.split))
        return completed(lengths, each(batches, self._batch))

    @torch.inference_mode()
    def _batch(self, batch: list[Copy]) -> Values:
        spots = [(row, position) for row, copy in enumerate(batch) for position in copy.asked]
        states = self.trunk([copy.ids for copy in batch], segments_of(batch), spots)
        asked = [tokens for copy in batch for tokens in copy.asked.values()]
        return placed(asked, self.head(states, [list(tokens) for tokens in asked]))
