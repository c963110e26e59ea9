"""Models that a user has loaded already: `(model, tokenizer)`, or a pipeline of transformers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stereometer.errors import ModelError, UsageError

if TYPE_CHECKING:
    from stereometer.backends.local.language_model import LanguageModel

SETTABLE = ("head",)
"""The only option that a model has which is loaded already."""


@contextmanager
def held(loaded: object, options: Mapping[str, Any] | None = None) -> Iterator[LanguageModel]:
    """The model ready to be asked; afterwards it is in the mode in which it was."""
    model, tokenizer = _parts(loaded)
    _check_options(options or {})
    modes = [(module, module.training) for module in model.modules()]
    trained = [(weights, weights.requires_grad) for weights in model.parameters()]
    model.eval()
    model.requires_grad_(False)
    try:
        yield _backend(model, tokenizer, str((options or {}).get("head") or ""))
    finally:
        for module, mode in modes:
            module.training = mode
        for weights, mode in trained:
            weights.requires_grad_(mode)


def _parts(loaded: object) -> tuple[Any, Any]:
    """The model and its tokenizer; anything else is a mistake of the caller."""
    pair = loaded if isinstance(loaded, tuple) else None
    if _is_of("Pipeline", loaded):
        pair = getattr(loaded, "model", None), getattr(loaded, "tokenizer", None)
    if pair is not None and len(pair) == 2 and _is_of("PreTrainedModel", pair[1]):
        raise UsageError(
            f"model= got {_described(loaded)}: the model comes second. A pair is (model, "
            "tokenizer). Swap the two."
        )
    if pair is None or len(pair) != 2 or not _is_of("PreTrainedModel", pair[0]):
        raise UsageError(
            f"model= cannot take {_described(loaded)}. It takes a name, a path, a pair (model, "
            "tokenizer) or a pipeline of transformers. Pass one of those."
        )
    if not _is_of("PreTrainedTokenizerBase", pair[1]):
        raise UsageError(
            f"{type(pair[1]).__name__} is not a tokenizer of transformers. Without its tokenizer a "
            "model cannot be asked. Pass (model, tokenizer)."
        )
    return pair


def _is_of(name: str, value: object) -> bool:
    """Whether transformers made it; where it was never imported, it did not."""
    transformers = sys.modules.get("transformers")
    return transformers is not None and isinstance(value, getattr(transformers, name))


def _described(value: object) -> str:
    if isinstance(value, tuple):
        return f"a tuple ({', '.join(type(part).__name__ for part in value)})"
    return f"a value of type {type(value).__name__}"


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if value and name not in SETTABLE:
            raise UsageError(
                f"{name}= is for models that stereometer loads. This one is loaded already. "
                "Leave it out, or change the model before you pass it."
            )


def _backend(model: Any, tokenizer: Any, head: str) -> LanguageModel:
    from stereometer.backends.local.checkpoint import Checkpoint, Options, check_tokenizer, quiet
    from stereometer.backends.local.opener import backend_for

    quiet()
    name = type(model).__name__
    check_tokenizer(name, tokenizer, model)
    dtype = str(model.dtype).removeprefix("torch.")
    options = Options(device=str(model.device), dtype=dtype, head=head)
    backend = backend_for(Checkpoint(name, _family(model), model, tokenizer, options))
    backend.checkpoint = replace(backend.checkpoint, name=f"{name}-{backend.weights[:8]}")
    backend.notes.append("The model was passed in memory: it is known by its weights alone.")
    return backend


def _family(model: Any) -> str:
    """From the model's class, which says what its head is for."""
    from transformers.models.auto import modeling_auto as auto

    from stereometer.backends.local.checkpoint import is_permuted, looks_back

    classes = {kind.__name__ for kind in type(model).__mro__}
    if is_permuted(model):
        return "permuted"
    causal = classes & {*auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()}
    masked = classes & {*auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()}
    if causal and (not masked or looks_back(model.config, causal)):
        return "causal"
    if masked and not getattr(model.config, "is_encoder_decoder", False):
        return "masked"
    raise ModelError(
        f"{type(model).__name__} is not a masked or causal language model. It may lack its "
        "language-model head. Load it with AutoModelForMaskedLM or AutoModelForCausalLM."
    )
