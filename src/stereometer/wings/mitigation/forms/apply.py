"""From `BASE+FILE` to a model that has the mitigation, or an error: never the base unchanged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from stereometer.core.errors import ModelError, StereometerError
from stereometer.core.files import read_json
from stereometer.core.types import Follows, SpanVectors
from stereometer.core.types.document import typed
from stereometer.core.types.names import SUFFIX
from stereometer.models.local.forward import noting_calls, watching
from stereometer.models.local.language_model import LanguageModel
from stereometer.wings.mitigation import card as cards
from stereometer.wings.mitigation.forms.adapter import apply_adapter
from stereometer.wings.mitigation.forms.self_debias import apply_prompt
from stereometer.wings.mitigation.forms.stored import Stored, load

HEADLESS = "Next-sentence heads of the model before are not used with a mitigation."
AROUND, IN_STATES = (cards.PROMPT,), (cards.ADAPTER,)
"""Forms that leave weights as they are; those that change states, which others leave the base's."""


def mitigated(base: LanguageModel, path: Path) -> LanguageModel:
    """The base with a mitigation; the base itself is used up."""
    stored = load(path)
    if stored.card.form not in FORMS:
        raise ModelError(
            f"{path} is a mitigation of form '{stored.card.form}'. This version knows "
            f"{', '.join(FORMS)}. Use the version that made it."
        )
    _check_base(stored, base)
    _check_inner(stored, base)
    before, name = base.weights, f"{base.checkpoint.name}+{path.name.removesuffix(SUFFIX)}"
    base.checkpoint = replace(base.checkpoint, name=name, spec=f"{base.checkpoint.spec}+{path}")
    backend = FORMS[stored.card.form](stored, base)
    if stored.card.form not in AROUND and backend.weights == before:
        raise ModelError(
            f"{path} changes nothing in {stored.card.base}: the weights are the same afterwards. "
            "Its numbers would be those of the base. Make the mitigation again."
        )
    return _add_card(backend, stored.card, f"from {stored.path.name}")


def recognised(backend: LanguageModel, folder: Path) -> LanguageModel:
    """A model from an exported folder, which still says what was done to which base."""
    file = folder / cards.EXPORTED
    try:
        exported = typed(cards.ExportedCard, read_json(file))
    except (StereometerError, ValueError) as error:
        raise ModelError(
            f"{file} cannot be read: {error}. It says which mitigation the weights have. Export "
            "the model again, or remove the file."
        ) from None
    if exported.weights != backend.weights:
        if (dtype := backend.checkpoint.options.dtype) != "float32":
            raise ModelError(
                f"{folder} has a mitigation ({exported.card.method}), which is known by weights in "
                f"float32; here they are {dtype}. Use --dtype float32."
            )
        backend.notes.append(
            f"{cards.EXPORTED} is about other weights, so it is not used: these were changed since."
        )
        return backend
    return _add_card(backend, exported.card, f"exported from {exported.card.base}")


def _add_card(backend: LanguageModel, card: cards.MitigationCard, source: str) -> LanguageModel:
    """With its card, and without answers that the mitigation does not reach: those of heads that
    were there before, and states where only what reads them was changed."""
    backend.added[cards.SETTING] = card.as_json()
    backend.own_states = card.form in IN_STATES
    backend.answers.pop(Follows.kind, None)
    backend.added.pop("next_sentence_head", None)
    if card.form not in IN_STATES:
        backend.answers.pop(SpanVectors.kind, None)
    about = f" of {card.attribute}" if card.attribute else ""
    control = f", a control of {card.control_of}" if card.control_of else ""
    note = f"Mitigated: {card.method}{about} ({card.variant}){control}, {source}."
    backend.notes += [note, HEADLESS]
    return backend


def _check_base(stored: Stored, base: LanguageModel) -> None:
    card = stored.card
    if card.base_digest == base.weights:
        return
    remedy = "Make one for this model: `stereometer mitigate`."
    if base.checkpoint.options.dtype != "float32":
        remedy = "Mitigations are fitted on float32: use --dtype float32."
    raise ModelError(
        f"{stored.path} was fitted on {card.base} ({card.base_digest[:12]}), the model is "
        f"{base.checkpoint.name} ({base.weights[:12]}). A mitigation means nothing on other "
        f"weights. {remedy}"
    )


def is_wrapped(model: LanguageModel) -> bool:
    """Whether its mitigation is around the weights, which are the base's."""
    return model.added.get(cards.SETTING, {}).get("form") in AROUND


def _check_inner(stored: Stored, base: LanguageModel) -> None:
    """A wrapper comes last: what is put onto the weights inside would leave it behind. An adapter
    comes before a projection, which is not in the states that the adapter changes."""
    if stored.card.form in IN_STATES and not is_wrapped(base) and not base.own_states:
        raise ModelError(
            f"{stored.path} comes after a mitigation that is not in the states. What is read from "
            "states would leave that one out. Put the adapter first."
        )
    if is_wrapped(base):
        raise ModelError(
            f"{stored.path} comes after a mitigation that wraps the model. It changes or reads "
            "what is inside and would lose the wrapper. Put the one that wraps last."
        )


# ------------------------------------------ a projection of the states, folded into what reads them

TOLERANCE = 1e-4
"""On logits, as a share of the largest."""


@dataclass(frozen=True)
class Projection:
    """h' = h - left right (h - mean), in float64. Once it is folded in no hook is left: lean paths,
    saving and other processes see weights."""

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


def apply_projection(stored: Stored, base: LanguageModel) -> LanguageModel:
    """The model with the projection in its weights."""
    from stereometer.models.local.opener import backend_for

    fold(base, read_projection(stored))
    return backend_for(replace(base.checkpoint, next_sentence=None), tuple(base.notes))


def read_projection(stored: Stored) -> Projection:
    try:
        return Projection(*(stored.tensors[name].double() for name in ("left", "right", "mean")))
    except KeyError as error:
        raise ModelError(
            f"{stored.path} has no {error}. A projection has left, right and mean. Make it again."
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
            f"{base.checkpoint.name} have {layer.in_features}. Use the model it was fitted on."
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


FORMS: Mapping[str, Callable[[Stored, LanguageModel], LanguageModel]] = {
    cards.PROJECTION: apply_projection,
    cards.ADAPTER: apply_adapter,
    cards.PROMPT: apply_prompt,
}
"""What puts each form onto a model."""
