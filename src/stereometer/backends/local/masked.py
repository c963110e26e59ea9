"""Masked language models: one token's probability in a copy of the text where some positions are hidden."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import torch

from stereometer.backends.local.blanks import masked_ways
from stereometer.backends.local.checkpoint import Checkpoint
from stereometer.backends.local.forward import packed, token_budget
from stereometer.backends.local.language_model import LanguageModel, Way
from stereometer.backends.local.lean import head_for, trunk_for
from stereometer.backends.local.memory import shrinking
from stereometer.errors import ModelError
from stereometer.types import Answer, MaskedTokens

Place = tuple[str, int]
"""A request and the number of one of its steps."""


@dataclass
class Copy:
    """A text with positions hidden, and who asks which token at which position of it."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    asked: dict[tuple[int, int], list[Place]] = field(default_factory=dict)
    """By (position, token)."""

    def __len__(self) -> int:
        return len(self.ids)


def copies(requests: Mapping[str, MaskedTokens], mask: int) -> list[Copy]:
    """Every distinct masked copy once: candidates that differ only where they are hidden share theirs."""
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], Copy] = {}
    for key, request in requests.items():
        for number, (hidden, position) in enumerate(request.steps):
            ids = list(request.ids)
            for one in hidden:
                ids[one] = mask
            copy = found.setdefault(
                (tuple(ids), request.segments), Copy(tuple(ids), request.segments)
            )
            copy.asked.setdefault((position, request.ids[position]), []).append((key, number))
    return list(found.values())


class Rows:
    """Answers being filled in, step by step."""

    def __init__(self, requests: Mapping[str, MaskedTokens]) -> None:
        self.values = {
            key: array("d", bytes(8 * len(request.steps))) for key, request in requests.items()
        }
        self.open = {key: len(request.steps) for key, request in requests.items()}

    def put(self, place: Place, value: float) -> Iterator[tuple[str, Answer]]:
        """Keeps a value; gives the answer when it was the last."""
        key, number = place
        self.values[key][number] = value
        self.open[key] -= 1
        if not self.open[key]:
            yield key, Answer(({"logprob": self.values.pop(key)},))


class Masked(LanguageModel):
    """Any model of AutoModelForMaskedLM."""

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        super().__init__(checkpoint, notes)
        mask = checkpoint.tokenizer.mask_token_id
        if mask is None:
            raise ModelError(
                f"{checkpoint.name} has no mask token. A masked measure hides tokens behind one. Choose a masked model, or a measure for causal ones."
            )
        self.mask = int(mask)
        self.mask_text: str = checkpoint.tokenizer.mask_token
        self.trunk = trunk_for(self.split)
        self.head = head_for(self.split)

    def ways(self) -> Mapping[str, Way]:
        return {
            **masked_ways(self.blanks, self.trunk, self.mask),
            MaskedTokens.kind: self.masked_tokens,
        }

    def masked_tokens(self, requests: Mapping[str, MaskedTokens]) -> Iterator[tuple[str, Answer]]:
        rows = Rows(requests)
        for batch in packed(copies(requests, self.mask), token_budget(self.split)):
            for part in shrinking(batch, self._batch):
                for place, value in part:
                    yield from rows.put(place, value)

    @torch.inference_mode()
    def _batch(self, batch: list[Copy]) -> list[tuple[Place, float]]:
        segments = [copy.segments for copy in batch] if batch[0].segments else None
        spots = [
            (index, position)
            for index, copy in enumerate(batch)
            for position in dict.fromkeys(position for position, _ in copy.asked)
        ]
        states = self.trunk([copy.ids for copy in batch], segments, spots)
        targets = [
            [token for at, token in batch[index].asked if at == position]
            for index, position in spots
        ]
        values = self.head(states, targets)
        return [
            (place, value)
            for (index, position), tokens, row in zip(spots, targets, values, strict=True)
            for token, value in zip(tokens, row, strict=True)
            for place in batch[index].asked[position, token]
        ]
