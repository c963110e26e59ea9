"""The last layer of a language model: what it is given, what it gives, and whether it is what it seems.

SeT asks how far this layer's matrix must move. The layer is found by watching which linear layer as wide as the vocabulary
the head calls last, and believed only where its weight and bias, multiplied anew, give what it gave, and where what comes after
it (a soft cap, a scale) keeps the order of all its logits. That is not part of the distance; a bias added later would be.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from stereometer.backends.local.forward import Split

LOG = logging.getLogger("stereometer")
TOLERANCE = 1e-4
"""Of the largest logit, in float32; coarser types are compared as coarsely as they count."""


@dataclass
class Seen:
    """What went into a layer and what came out."""

    given: Tensor | None = None
    made: Tensor | None = None


@contextmanager
def watched(layer: Any) -> Iterator[Seen]:
    seen = Seen()

    def note(part: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        seen.given, seen.made = inputs[0], output

    hook = layer.register_forward_hook(note)
    try:
        yield seen
    finally:
        hook.remove()


class OutputLayer:
    """A head's last linear layer: logits = weight x state + bias."""

    def __init__(self, split: Split, layer: Any) -> None:
        self.split = split
        self.layer = layer

    def __call__(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of rows of states: the model's logits, this layer's own, and x . x of what its matrix (and bias) are multiplied with."""
        with watched(self.layer) as seen:
            logits = self.split.head(rows)
        assert seen.given is not None
        assert seen.made is not None
        state = seen.given.reshape(len(rows), -1).double()
        squared = torch.linalg.vecdot(state, state) + (0.0 if self.layer.bias is None else 1.0)
        return logits, seen.made.reshape(len(rows), -1), squared

    @torch.inference_mode()
    def holds(self, rows: Tensor) -> bool:
        """Whether weight and bias, multiplied anew, give this layer's output, and the model's logits rise with it."""
        with watched(self.layer) as seen:
            logits = self.split.head(rows)
        if seen.given is None or seen.made is None:
            return False
        anew = seen.given.double() @ self.layer.weight.double().t()
        if self.layer.bias is not None:
            anew = anew + self.layer.bias.double()
        size = float(anew.abs().max())
        coarse = max(TOLERANCE, 8 * float(torch.finfo(seen.made.dtype).eps))
        right = bool(torch.allclose(anew, seen.made.double(), rtol=0, atol=coarse * size))
        return (
            right
            and seen.made.numel() == logits.numel()
            and _rising(seen.made.reshape(logits.shape), logits, coarse)
        )


def _rising(before: Tensor, after: Tensor, coarse: float) -> bool:
    """Whether in every row the model's logits rise, or stay, with the layer's: none lies below that of a smaller one."""
    ordered = after.double().gather(-1, before.argsort(-1))
    falls = ordered.cummax(-1).values - ordered
    return bool((falls <= coarse * after.double().abs().amax(-1, keepdim=True)).all())


@torch.inference_mode()
def output_layer(split: Split) -> OutputLayer | None:
    """The model's output layer, or nothing where none is found that holds."""
    if split.whole:
        return None
    rows = _probe(split)
    layer = _last_called(split, rows)
    if layer is None:
        LOG.info("no linear layer of the head is as wide as the vocabulary")
        return None
    found = OutputLayer(split, layer)
    return found if found.holds(rows) else None


def _probe(split: Split) -> Tensor:
    ids = torch.arange(1, 5, device=split.device).unsqueeze(0) % split.vocabulary
    return split.trunk(input_ids=ids)[0]


def _last_called(split: Split, rows: Tensor) -> Any:
    called: list[Any] = []
    layers = [part for part in split.model.modules() if isinstance(part, torch.nn.Linear)]
    hooks = [part.register_forward_pre_hook(lambda part, _: called.append(part)) for part in layers]
    try:
        width = split.head(rows).shape[-1]
    finally:
        for hook in hooks:
            hook.remove()
    return next((part for part in reversed(called) if part.out_features == width), None)
