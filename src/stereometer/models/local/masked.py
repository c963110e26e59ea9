"""Models that see both sides of a token: masked language models, which are shown a copy of the text
with positions hidden, and XLNet-like ones, where a token is hidden from every position."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import torch
from torch import Tensor

from stereometer.core.errors import ModelError
from stereometer.core.types import Answer, MaskedTokens
from stereometer.models.local.batches import (
    Text,
    each,
    equal_length,
    is_shortage,
    packed,
    segments_of,
)
from stereometer.models.local.checkpoint import Checkpoint
from stereometer.models.local.forward import ENOUGH_ROWS, token_budget
from stereometer.models.local.language_model import LanguageModel, Place, Values, Way, completed
from stereometer.models.local.lean.choice import trunk_for


def copies(requests: Mapping[str, MaskedTokens], mask: int) -> list[Text]:
    """Every distinct copy once: candidates that differ only where they are hidden share theirs."""
    by_ids: dict[tuple[tuple[int, ...], ...], Text] = {}
    for key, request in requests.items():
        for number, (hidden, position) in enumerate(request.steps):
            shown = list(request.ids)
            for at in hidden:
                shown[at] = mask
            ids, segments = tuple(shown), request.segments
            asked = by_ids.setdefault((ids, segments), Text(ids, segments)).asked
            tokens = asked.setdefault(position, {})
            tokens.setdefault(request.ids[position], []).append((key, number))
    return list(by_ids.values())


def spots_of(batch: Sequence[Text]) -> list[tuple[int, int]]:
    """The text and the position of everything that is asked."""
    return [(row, position) for row, text in enumerate(batch) for position in text.asked]


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

    def ways(self) -> Mapping[str, Way]:
        blanks = self.blanks.masked_ways(self.trunk, self.mask)
        return {**blanks, MaskedTokens.kind: self.masked_tokens}

    def masked_tokens(self, requests: Mapping[str, MaskedTokens]) -> Iterator[tuple[str, Answer]]:
        lengths = {key: len(request.steps) for key, request in requests.items()}
        batches = packed(copies(requests, self.mask), token_budget(self.split))
        return completed(lengths, each(batches, self._batch))

    @torch.inference_mode()
    def _batch(self, batch: list[Text]) -> Values:
        ids = [text.ids for text in batch]
        return self.values_at(batch, self.trunk(ids, segments_of(batch), spots_of(batch)))


# -------------------------------------------------------------------------------- XLNet-like models


def views(requests: Mapping[str, MaskedTokens]) -> list[Text]:
    """Every distinct text with what is hidden of it and the one position that is asked."""
    distinct: dict[object, Text] = {}
    for key, request in requests.items():
        for number, (hidden, position) in enumerate(request.steps):
            name = request.ids, request.segments, hidden, position
            asked = {position: {request.ids[position]: list[Place]()}}
            view = distinct.setdefault(name, Text(request.ids, request.segments, asked, hidden))
            view.asked[position][request.ids[position]].append((key, number))
    return list(distinct.values())


class Permuted(LanguageModel):
    """A model whose interface has `perm_mask` and `target_mapping`."""

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
    def _masked_batch(self, batch: list[Text]) -> Values:
        """Without a permutation mask: every position sees every other, and itself."""
        inputs = self.split.inputs([text.ids for text in batch], segments_of(batch))
        rows, positions = torch.tensor(spots_of(batch)).T
        return self.values_at(batch, self.split.trunk(**inputs, use_mems=False)[rows, positions])

    @torch.inference_mode()
    def _batch(self, batch: list[Text]) -> Values:
        try:
            states = self._states([*batch, *batch[-1:] * (ENOUGH_ROWS - len(batch))])[: len(batch)]
        except (MemoryError, RuntimeError) as error:
            if len(batch) > 1 or not is_shortage(error):
                raise
            states = self._states(batch)
        return self.values_at(batch, states)

    def _states(self, batch: list[Text]) -> Tensor:
        """At the asked positions, one per text."""
        split, length = self.split, len(batch[0])
        hides = torch.zeros(len(batch), length, length, dtype=split.dtype, device=split.device)
        target = torch.zeros(len(batch), 1, length, dtype=split.dtype, device=split.device)
        for row, position in spots_of(batch):
            hides[row, :, list(batch[row].hidden)] = 1
            target[row, 0, position] = 1
        inputs = split.inputs([view.ids for view in batch], segments_of(batch), enough=False)
        del inputs["attention_mask"]
        return split.trunk(**inputs, perm_mask=hides, target_mapping=target, use_mems=False)[:, 0]
