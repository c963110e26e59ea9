"""XLNet-like models: a token hidden from every position, with everything else visible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

import torch
from torch import Tensor

from stereometer.backends.local.batches import equal_length, segments_of
from stereometer.backends.local.blanks import Way
from stereometer.backends.local.checkpoint import Checkpoint
from stereometer.backends.local.forward import ENOUGH_ROWS, token_budget
from stereometer.backends.local.language_model import (
    LanguageModel,
    Place,
    Values,
    completed,
    placed,
)
from stereometer.backends.local.lean.choice import head_for
from stereometer.backends.local.masked import Copy, copies
from stereometer.backends.local.memory import each, is_shortage
from stereometer.types import Answer, MaskedTokens


@dataclass
class View:
    """A text, what is hidden of it, and the position that is asked."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    hidden: tuple[int, ...]
    position: int
    asked: list[Place] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)


def views(requests: Mapping[str, MaskedTokens]) -> list[View]:
    distinct: dict[object, View] = {}
    for key, request in requests.items():
        for number, (hidden, position) in enumerate(request.steps):
            name = request.ids, request.segments, hidden, position
            distinct.setdefault(name, View(*name)).asked.append((key, number))
    return list(distinct.values())


class Permuted(LanguageModel):
    """A model whose interface has `perm_mask` and `target_mapping`."""

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        super().__init__(checkpoint, notes)
        self.head = head_for(self.split)

    def ways(self) -> Mapping[str, Way]:
        return {MaskedTokens.kind: self.masked_tokens}

    def masked_tokens(self, requests: Mapping[str, MaskedTokens]) -> Iterator[tuple[str, Answer]]:
        lengths = {key: len(request.steps) for key, request in requests.items()}
        hidden = {key: request for key, request in requests.items() if not request.in_place}
        in_place = {key: request for key, request in requests.items() if request.in_place}
        mask = int(self.checkpoint.tokenizer.mask_token_id or 0)
        budget = token_budget(self.split)
        parts = each(equal_length(views(hidden), budget), self._batch)
        masked = each(equal_length(copies(in_place, mask), budget), self._masked_batch)
        return completed(lengths, chain(parts, masked))

    @torch.inference_mode()
    def _masked_batch(self, batch: list[Copy]) -> Values:
        """Without a permutation mask: every position sees every other, and itself."""
        inputs = self.split.inputs([copy.ids for copy in batch], segments_of(batch))
        states = self.split.trunk(**inputs, use_mems=False)
        spots = [(row, position) for row, copy in enumerate(batch) for position in copy.asked]
        rows, positions = (torch.tensor(part) for part in zip(*spots, strict=True))
        asked = [tokens for copy in batch for tokens in copy.asked.values()]
        return placed(asked, self.head(states[rows, positions], [list(tokens) for tokens in asked]))

    @torch.inference_mode()
    def _batch(self, batch: list[View]) -> Values:
        asked = [{view.ids[view.position]: view.asked} for view in batch]
        try:
            states = self._states([*batch, *batch[-1:] * (ENOUGH_ROWS - len(batch))])[: len(batch)]
        except (MemoryError, RuntimeError) as error:
            if len(batch) > 1 or not is_shortage(error):
                raise
            states = self._states(batch)
        return placed(asked, self.head(states, [list(tokens) for tokens in asked]))

    def _states(self, batch: list[View]) -> Tensor:
        """At the asked positions, one per text."""
        split, length = self.split, len(batch[0])
        hides = torch.zeros(len(batch), length, length, dtype=split.dtype, device=split.device)
        target = torch.zeros(len(batch), 1, length, dtype=split.dtype, device=split.device)
        for row, view in enumerate(batch):
            hides[row, :, list(view.hidden)] = 1
            target[row, 0, view.position] = 1
        inputs = split.inputs([view.ids for view in batch], segments_of(batch), enough=False)
        del inputs["attention_mask"]
        return split.trunk(**inputs, perm_mask=hides, target_mapping=target, use_mems=False)[:, 0]
