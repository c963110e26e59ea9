"""What decides a head besides model and text, and what makes no sense in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stereometer.errors import UnknownName, UsageError
from stereometer.files import make_room
from stereometer.types import Backend, System

if TYPE_CHECKING:
    from stereometer.backends.local.language_model import LanguageModel

LARGEST_SEED = 2**63
"""Torch takes no larger one."""


@dataclass(frozen=True)
class Recipe:
    pooling: str = ""
    """Of POOLINGS; by default what suits the model's family."""
    layer: int = 0
    """Whose output is pooled; 0 is the last."""
    pairs: int = 20_000
    held_out: float = 0.1
    hidden: int = 256
    epochs: int = 20
    rate: float = 1e-3
    decay: float = 0.1
    dropout: float = 0.2
    seed: int = 0
    full: bool = False
    """Train the trunk too."""
    trunk_rate: float = 2e-5
    warm_up: float = 0.1
    """The share of steps over which the rate rises, or from 1 on their number."""
    accumulate: int = 1
    """Steps whose gradients are added before a change."""


PAPER = Recipe(
    pairs=9_500_000,
    epochs=10,
    rate=1e-5,
    decay=0.01,
    full=True,
    trunk_rate=1e-5,
    warm_up=500,
)
"""As printed (Nadeem et al. 2021, appendix A.5), with the weight decay of the optimizer that it
names. Pairs are as many as the text gives."""
RECIPES = {"paper": PAPER}


def recipe_for(name: str, changed: Mapping[str, Any]) -> Recipe:
    """A named recipe, or ours, with what a user changed; epochs depend on what is trained."""
    if name and name not in RECIPES:
        raise UnknownName("recipe", name, RECIPES)
    ours = Recipe(epochs=2 if changed.get("full") else 20)
    return replace(RECIPES.get(name, ours), **changed)


def check_order(recipe: Recipe, out: Path) -> None:
    """Raises at once for what would fail after the work, whatever the model."""
    if out.is_dir():
        raise UsageError(
            f"{out} is a folder. A head is one file. Name a file with --out, such as "
            f"{out / 'head.safetensors'}."
        )
    if recipe.pairs < 20 or recipe.epochs < 1 or not 0 < recipe.held_out < 1:
        raise UsageError(
            "At least 20 pairs, one epoch and a share held out between 0 and 1 are needed. One "
            "of these is out of range. Change it."
        )
    check_seed(recipe.seed)
    for rate in (recipe.rate, recipe.trunk_rate):
        if not 0 < rate < inf:
            raise UsageError(
                f"A learning rate is {rate}. A rate must be above 0. Choose a small one, such as "
                "2e-5."
            )
    make_room(out)


def check_seed(seed: int) -> None:
    if not 0 <= seed < LARGEST_SEED:
        raise UsageError(
            f"The seed is {seed}. A seed is a number from 0 up, below 2 to the 63. The default is "
            "0."
        )


def with_states(backend: Backend | System) -> LanguageModel:
    """The model, where it is one whose states can be read."""
    if find_spec("torch") is not None:
        from stereometer.backends.local.language_model import LanguageModel

        if isinstance(backend, LanguageModel):
            return backend
    raise UsageError(
        f"{backend.card.name} has no states that could be read. It is a baseline or a server. Name "
        "a language model."
    )


def trainable(backend: Backend | System) -> LanguageModel:
    """The model, where something that is trained on its states is not the base's."""
    model = with_states(backend)
    from stereometer.backends.local.mitigation.apply import changes_states

    if changes_states(model):
        return model
    raise UsageError(
        f"{model.checkpoint.name} has the states of its base. This mitigation changes only what "
        "reads them, so what is trained would be the base's. Name the base, or a model with `cda`."
    )
