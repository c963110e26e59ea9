"""A projection of the states, folded into the first linear layer of the head that reads them.

h' = h - left right (h - mean). No hook is left: lean paths, saving and other processes see weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from stereometer.backends.local.forward import noting_calls, watching
from stereometer.backends.local.language_model import LanguageModel
from stereometer.backends.local.mitigation.stored import Stored
from stereometer.errors import ModelError

TOLERANCE = 1e-4
"""On logits, as a share of the largest."""


@dataclass(frozen=True)
class Projection:
    """In float64."""

    left: Tensor
    right: Tensor
    mean: Tensor

    def __call__(self, states: Tensor) -> Tensor:
        """States without what is taken away."""
        rows = states.double()
        removed = (rows - self.mean) @ self.right.T @ self.left.T
        return (rows - removed).to(states.dtype)

    @property
    def tensors(self) -> dict[str, Tensor]:
        return {"left": self.left, "right": self.right, "mean": self.mean}

    @property
    def rank(self) -> int:
        return int(self.left.shape[1])


def apply(stored: Stored, base: LanguageModel) -> LanguageModel:
    """The model with the projection in its weights."""
    from stereometer.backends.local.opener import backend_for

    fold(base, read(stored))
    return backend_for(replace(base.checkpoint, next_sentence=None), tuple(base.notes))


def read(stored: Stored) -> Projection:
    try:
        return Projection(*(stored.tensors[name].double() for name in ("left", "right", "mean")))
    except KeyError as error:
        raise ModelError(
            f"{stored.path} has no {error}. A projection has left, right and mean. Make it again "
            "with `stereometer mitigate`."
        ) from None


@torch.inference_mode()
def fold(base: LanguageModel, projection: Projection, affine: bool = True) -> nn.Linear:
    """Changes the model's weights, and gives the layer that was changed.

    Without `affine` the mean is left out, for formats that have no place for a bias.
    """
    split = base.split
    layer = reading_layer(base)
    if layer.in_features != len(projection.mean):
        raise ModelError(
            f"The mitigation is for states of {len(projection.mean)} numbers, and those of "
            f"{base.checkpoint.name} have {layer.in_features}. It was fitted on another model. "
            "Use that one."
        )
    if not affine:
        projection = replace(projection, mean=torch.zeros_like(projection.mean))
    projection = Projection(*(part.to(split.device) for part in projection.tensors.values()))
    rows = split.trunk(input_ids=split.probe())[0]
    expected = split.head(projection(rows))
    _change(layer, projection)
    if layer is base.model.get_output_embeddings():
        base.model.config.tie_word_embeddings = False
    scale = TOLERANCE * max(1.0, float(expected.abs().max()))
    if not torch.allclose(split.head(rows), expected, rtol=0, atol=scale):
        raise ModelError(
            f"The mitigation cannot be folded into {base.checkpoint.name}. Its head reads the "
            "states in more than one place. Choose another model or method."
        )
    return layer


def _change(layer: nn.Linear, projection: Projection) -> None:
    """A matrix that was tied to the embeddings becomes the layer's own."""
    weight = layer.weight.double()
    seen = weight @ projection.left
    shift = seen @ (projection.right @ projection.mean)
    bias = 0.0 if layer.bias is None else layer.bias.double()
    dtype = layer.weight.dtype
    layer.weight = nn.Parameter((weight - seen @ projection.right).to(dtype), requires_grad=False)
    if layer.bias is not None or bool(shift.any()):
        layer.bias = nn.Parameter((bias + shift).to(dtype), requires_grad=False)


@torch.inference_mode()
def reading_layer(base: LanguageModel) -> nn.Linear:
    """The head's first linear layer, if it is given the trunk's states as they are."""
    split = base.split
    if not split.whole:
        rows = split.trunk(input_ids=split.probe())[0]
        linear = [part for part in base.model.modules() if isinstance(part, nn.Linear)]
        with noting_calls(linear) as called:
            split.head(rows)
        if called:
            with watching(called[0]) as watched:
                split.head(rows)
            if watched.input is not None and torch.equal(watched.input.reshape(rows.shape), rows):
                layer: nn.Linear = called[0]
                return layer
    raise ModelError(
        f"{base.checkpoint.name} has no linear layer that reads its last states. A projection has "
        "nothing to be folded into. Choose another model or method."
    )
