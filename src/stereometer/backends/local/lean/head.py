"""A lean head: log-probabilities from slices of the vocabulary."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from stereometer.backends.local.forward import Split, Targets, enough, flat, like
from stereometer.backends.local.lean.parts import even_parts

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
        return torch.cat([self._mass_of(states[part]) for part in even_parts(len(states))])

    def _mass_of(self, rows: Tensor) -> Tensor:
        masses = []
        for start in range(0, len(self.last.weight), COLUMNS):
            columns = slice(start, start + COLUMNS)
            bias = None if self.last.bias is None else self.last.bias[columns]
            logits = functional.linear(rows, self.last.weight[columns], bias)
            masses.append(_mass(logits))
        return _mass(torch.stack(masses, -1))


def _mass(logits: Tensor) -> Tensor:
    """Written over: half the memory. torch.logsumexp is slower, and the last bit of its numbers
    depends on the rows beside them."""
    first = logits[:, 0].to(torch.float64, copy=True)
    return first - torch.log_softmax(logits, -1, out=logits)[:, 0].double()
