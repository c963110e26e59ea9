"""The form `prompt`: a mitigation that holds settings alone and wraps a model (Self-Debias)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stereometer.backends.local.language_model import LanguageModel
from stereometer.backends.local.mitigation.self_debias import Reweighting, SelfDebiased
from stereometer.backends.local.mitigation.stored import Stored
from stereometer.errors import ModelError


def apply(stored: Stored, base: LanguageModel) -> LanguageModel:
    """The model in its wrapper."""
    try:
        prompt, reweighting = read(stored.card.settings)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"{stored.path} cannot be used: {error}. Its numbers would not be those of "
            "Self-Debias. Make it again with `stereometer mitigate self-debias`."
        ) from None
    return SelfDebiased(base, prompt, reweighting)


def read(settings: Mapping[str, Any]) -> tuple[str, Reweighting]:
    """Raises ValueError for settings that change nothing or make no sense."""
    prompt = str(settings["prompt"])
    decay, eps = float(settings["lambda"]), float(settings["eps"])
    if not prompt.strip():
        raise ValueError("the prompt is empty, which changes nothing")
    if not 0 < decay < float("inf"):
        raise ValueError(f"--decay (lambda) is {decay:g} and must be above 0; at 0 nothing changes")
    if not 0 < eps < 1:
        raise ValueError(f"eps is {eps:g} and must lie between 0 and 1; at 1 nothing changes")
    return prompt, Reweighting(decay, eps)
