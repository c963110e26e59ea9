"""The last layer of a language model: what it is given, what it gives, and whether it holds.

SeT asks how far this layer's matrix must move. The layer is found by watching which linear layer as
wide as the vocabulary the head calls last. It is believed only where its weight and bias give its
output, and where what comes after it (a soft cap, a scale) keeps the order of all its logits. That
is not part of the distance; a bias added later would be.
"""

from __future__ import annotations

import logging

import torch
from torch import Tensor

from stereometer.backends.local.forward import Split, noting_calls, watching

LOG = logging.getLogger("stereometer")
TOLERANCE = 1e-4
"""Of the largest logit, in float32; coarser types are compared as coarsely as they count."""


class OutputLayer:
    """A head's last linear layer: logits = weight x state + bias."""

    def __init__(self, split: Split, layer: torch.nn.Linear) -> None:
        self.split = split
        self.layer = layer

    def __call__(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """For rows of states: the model's logits, this layer's own, and the squared norms of what
        its matrix (and bias) are multiplied with."""
        with watching(self.layer) as watched:
            logits = self.split.head(rows)
        assert watched.input is not None
        assert watched.output is not None
        state = watched.input.reshape(len(rows), -1).double()
        squared = torch.linalg.vecdot(state, state) + (0.0 if self.layer.bias is None else 1.0)
        return logits, watched.output.reshape(len(rows), -1), squared

    @torch.inference_mode()
    def holds(self, rows: Tensor) -> bool:
        """Whether weight and bias give this layer's output, and the model's logits rise with it."""
        with watching(self.layer) as watched:
            logits = self.split.head(rows)
        state, output = watched.input, watched.output
        if state is None or output is None:
            return False
        again = state.double() @ self.layer.weight.double().t()
        if self.layer.bias is not None:
            again = again + self.layer.bias.double()
        coarse = max(TOLERANCE, 8 * float(torch.finfo(output.dtype).eps))
        tolerance = coarse * float(again.abs().max())
        return (
            bool(torch.allclose(again, output.double(), rtol=0, atol=tolerance))
            and output.numel() == logits.numel()
            and _rising(output.reshape(logits.shape), logits, coarse)
        )


def _rising(before: Tensor, after: Tensor, coarse: float) -> bool:
    """Whether in every row the model's logits rise, or stay, with the layer's."""
    ordered = after.double().gather(-1, before.argsort(-1))
    falls = ordered.cummax(-1).values - ordered
    return bool((falls <= coarse * after.double().abs().amax(-1, keepdim=True)).all())


@torch.inference_mode()
def output_layer(split: Split) -> OutputLayer | None:
    """The model's output layer, or nothing where none is found that holds."""
    if split.whole:
        return None
    rows = split.trunk(input_ids=split.probe())[0]
    linear = [part for part in split.model.modules() if isinstance(part, torch.nn.Linear)]
    with noting_calls(linear) as called:
        width = split.head(rows).shape[-1]
    layer = next((part for part in reversed(called) if part.out_features == width), None)
    if layer is None:
        LOG.info("no linear layer of the head is as wide as the vocabulary")
        return None
    output = OutputLayer(split, layer)
    return output if output.holds(rows) else None
