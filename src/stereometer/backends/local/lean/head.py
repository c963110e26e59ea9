"""A lean head: log-probabilities from slices of the vocabulary."""

from __future__ import annotations

import torch
from torch import Tensor

from stereometer.backends.local.forward import Split, Targets, enough, flat, like
from stereometer.backends.local.lean.parts import even_parts, workspace

COLUMNS = 2048
"""Of the vocabulary, whose logits are made at once: matrix products are slower at odd sizes."""


class SlicedHead:
    """The logits of all rows are never in memory together."""

    def __init__(self, split: Split, last: torch.nn.Linear) -> None:
        self.split = split
        self.last = last

    def __call__(self, rows: Tensor, targets: Targets) -> list[list[float]]:
        states = self.split.inputs_of(self.last, enough(rows))
        where, which = flat(targets)
        picked = torch.linalg.vecdot(states[where], self.last.weight[which]).double()
        if self.last.bias is not None:
            picked += self.last.bias[which]
        return like(targets, picked - self._mass(states)[where])

    def _mass(self, states: Tensor) -> Tensor:
        """The log of the sum of all exponentials of each row's logits."""
        room = workspace(states, COLUMNS).view(-1)
        return torch.cat([self._mass_of(states[part], room) for part in even_parts(len(states))])

    def _mass_of(self, rows: Tensor, room: Tensor) -> Tensor:
        masses = []
        for start in range(0, len(self.last.weight), COLUMNS):
            weight = self.last.weight[start : start + COLUMNS]
            out = room[: len(rows) * len(weight)].view(len(rows), len(weight))
            logits = torch.mm(rows, weight.t(), out=out)
            if self.last.bias is not None:
                logits += self.last.bias[start : start + COLUMNS]
            first = logits[:, 0].double()
            # Written over its input: half the memory, and torch.logsumexp is slower.
            masses.append(first - torch.log_softmax(logits, -1, out=logits)[:, 0].double())
        return torch.stack(masses).logsumexp(0)
