"""From `BASE+FILE` to a model that has the mitigation, or an error: never the base unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from stereometer.backends.local.language_model import LanguageModel
from stereometer.backends.local.mitigation import adapter, fold, prompt
from stereometer.backends.local.mitigation.stored import Stored, load
from stereometer.errors import ModelError, StereometerError
from stereometer.files import read_json
from stereometer.mitigations.card import ADAPTER, PROJECTION, PROMPT, SETTING, MitigationCard
from stereometer.mitigations.exported import EXPORTED, ExportedCard
from stereometer.types import Follows, SpanVectors
from stereometer.types.document import typed
from stereometer.types.names import SUFFIX

FORMS: Mapping[str, Callable[[Stored, LanguageModel], LanguageModel]] = {
    PROJECTION: fold.apply,
    ADAPTER: adapter.apply,
    PROMPT: prompt.apply,
}
"""What puts each form onto a model."""
HEADLESS = "Next-sentence heads of the model before are not used with a mitigation."
AROUND, IN_STATES = (PROMPT,), (ADAPTER,)
"""Forms that leave the weights as they are, and those that change states: of others, what is read
from states would be the base's."""


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
    return _stated(backend, stored.card, f"from {stored.path.name}")


def recognised(backend: LanguageModel, folder: Path) -> LanguageModel:
    """A model from an exported folder, which still says what was done to which base."""
    file = folder / EXPORTED
    try:
        exported = typed(ExportedCard, read_json(file))
    except (StereometerError, ValueError) as error:
        raise ModelError(
            f"{file} cannot be read: {error}. It says which mitigation the weights have. Export "
            "the model again, or remove the file."
        ) from None
    if exported.weights != backend.weights:
        _check_precision(exported.card, backend, folder)
        backend.notes.append(
            f"{EXPORTED} in the model's folder is about other weights, so it is not used: these "
            "were changed since."
        )
        return backend
    return _stated(backend, exported.card, f"exported from {exported.card.base}")


def _check_precision(card: MitigationCard, backend: LanguageModel, folder: Path) -> None:
    if (dtype := backend.checkpoint.options.dtype) != "float32":
        raise ModelError(
            f"{folder} holds a model with a mitigation ({card.method}), which is known by its "
            f"weights in float32; here they are {dtype}. What it reaches could not be told. Use "
            "--dtype float32."
        )


def _stated(backend: LanguageModel, card: MitigationCard, source: str) -> LanguageModel:
    """With its card, and without answers that the mitigation does not reach: those of heads that
    were there before, and states where only what reads them was changed."""
    backend.added[SETTING] = card.as_json()
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
    card, options = stored.card, base.checkpoint.options
    if card.base_digest == base.weights:
        return
    remedy = (
        "Make one for this model: `stereometer mitigate`."
        if options.dtype == "float32"
        else "Mitigations are fitted on float32: use --dtype float32."
    )
    raise ModelError(
        f"{stored.path} was fitted on {card.base} ({card.base_digest[:12]}), the model is "
        f"{base.checkpoint.name} ({base.weights[:12]}). A mitigation means nothing on other "
        f"weights. {remedy}"
    )


def changes_states(model: LanguageModel) -> bool:
    """Whether what reads its states reads others than the base's; so it is without a mitigation."""
    card = model.added.get(SETTING)
    return card is None or card["form"] in IN_STATES


def is_wrapped(model: LanguageModel) -> bool:
    """Whether its mitigation is around the weights, which are the base's."""
    return model.added.get(SETTING, {}).get("form") in AROUND


def _check_inner(stored: Stored, base: LanguageModel) -> None:
    """A wrapper comes last: what is put onto the weights inside would leave it behind. An adapter
    comes before a projection, which is not in the states that the adapter changes."""
    if stored.card.form in IN_STATES and not is_wrapped(base) and not changes_states(base):
        raise ModelError(
            f"{stored.path} comes after a mitigation that is not in the states. What is read from "
            "states would leave that one out. Put the adapter first."
        )
    if is_wrapped(base):
        raise ModelError(
            f"{stored.path} comes after a mitigation that wraps the model. It changes or reads "
            "what is inside and would lose the wrapper. Put the one that wraps last."
        )
