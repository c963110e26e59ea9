"""XLNet-like models: a position's token with it hidden from everyone and everything else visible on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import torch

from stereometer.backends.local.checkpoint import Checkpoint
from stereometer.backends.local.forward import equal_length, token_budget
from stereometer.backends.local.language_model import LanguageModel, Way
from stereometer.backends.local.lean import head_for
from stereometer.backends.local.masked import Place, Rows
from stereometer.backends.local.memory import shrinking
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
    found: dict[object, View] = {}
    for key, request in requests.items():
        for number, (hidden, position) in enumerate(request.steps):
            name = request.ids, request.segments, hidden, position
            found.setdefault(name, View(*name)).asked.append((key, number))
    return list(found.values())


class Permuted(LanguageModel):
    """A model whose interface has `perm_mask` and `target_mapping`."""

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        super().__init__(checkpoint, notes)
        self.head = head_for(self.split)

    def ways(self) -> Mapping[str, Way]:
        return {MaskedTokens.kind: self.masked_tokens}

    def masked_tokens(self, requests: Mapping[str, MaskedTokens]) -> Iterator[tuple[str, Answer]]:
        rows = Rows(requests)
        for batch in equal_length(views(requests), token_budget(self.split)):
            for part in shrinking(batch, self._batch):
                for place, value in part:
                    yield from rows.put(place, value)

    @torch.inference_mode()
    def _batch(self, batch: list[View]) -> list[tuple[Place, float]]:
        device, dtype = (
            getattr(next(self.model.parameters()), name) for name in ("device", "dtype")
        )
        length = len(batch[0])
        ids = torch.tensor([view.ids for view in batch], device=device)
        hides = torch.zeros(len(batch), length, length, dtype=dtype, device=device)
        target = torch.zeros(len(batch), 1, length, dtype=dtype, device=device)
        for row, view in enumerate(batch):
            hides[row, :, list(view.hidden)] = 1
            target[row, 0, view.position] = 1
        inputs = {"input_ids": ids, "perm_mask": hides, "target_mapping": target, "use_mems": False}
        if batch[0].segments:
            inputs["token_type_ids"] = torch.tensor(
                [view.segments for view in batch], device=device
            )
        states = self.split.trunk(**inputs)[:, 0]
        values = self.head(states, [[view.ids[view.position]] for view in batch])
        return [
            (place, row[0]) for view, row in zip(batch, values, strict=True) for place in view.asked
        ]
