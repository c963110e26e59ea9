"""What decides a head or a classifier besides model and text, and what makes no sense in it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from stereometer.core.errors import UnknownName, UsageError
from stereometer.core.files import make_room
from stereometer.core.options import Option
from stereometer.core.types import Backend, Scorer

if TYPE_CHECKING:
    from stereometer.models.local.language_model import LanguageModel

LARGEST_SEED = 2**63
"""Torch takes no larger one."""


Draws = Annotated[int, "Seed of every random draw."]


@dataclass(frozen=True)
class Recipe:
    """Of a head; what has a help text is an option of `train nsp`."""

    pairs: Annotated[int, "Train on at most this many pairs, drawn at random."] = 20_000
    pooling: Annotated[
        str,
        "first, last, mean or parts (each sentence's mean, their product and distance); by default "
        "what suits the model.",
    ] = ""
    layer: Annotated[int, "The layer whose output is pooled, from 1; 0 is the last."] = 0
    hidden: Annotated[int, Option("Width of the head's hidden layer.", least=1)] = 256
    epochs: Annotated[
        int,
        Option(
            "Times through the pairs; 20 on a frozen trunk, 2 with --full.",
            least=1,
            has_default=False,
        ),
    ] = 20
    held_out: Annotated[float, "Share of article groups held out for testing."] = 0.1
    full: Annotated[bool, "Train the trunk too."] = False
    rate: float = 1e-3
    trunk_rate: Annotated[float, "Learning rate of the trunk with --full."] = 2e-5
    decay: float = 0.1
    dropout: float = 0.2
    warm_up: float = 0.1
    """The share of steps over which the rate rises, or from 1 on their number."""
    accumulate: Annotated[
        int, Option("Batches of 80 pairs whose gradients are added, with --full.", least=1)
    ] = 1
    seed: Draws = 0


PAPER = Recipe(
    pairs=9_500_000, epochs=10, rate=1e-5, decay=0.01, full=True, trunk_rate=1e-5, warm_up=500
)
"""As printed (Nadeem et al. 2021, appendix A.5), with the weight decay of the optimizer that it
names. Pairs are as many as the text gives."""


@dataclass(frozen=True)
class Tuning:
    """Of a classifier; what has a help text is an option of `train sentiment`."""

    epochs: Annotated[int, Option("Times through the reviews.", least=1)] = 2
    rate: Annotated[float, "Learning rate."] = 2e-5
    warm_up: float = 0.1
    """The share of steps over which the rate rises, before it falls to nothing; at 0 it stays."""
    held_out: Annotated[float, "Share of reviews held out for testing."] = 0.1
    seed: Draws = 0


PAPER_TUNING = Tuning(epochs=7, rate=1e-4, warm_up=0.0)
"""Seven epochs of Adam at 1e-4, as printed (appendix A.2)."""
Made = TypeVar("Made", Recipe, Tuning)


def recipe_for(name: str, changed: Mapping[str, Any]) -> Recipe:
    """Epochs depend on what is trained."""
    return changed_from(name, PAPER, Recipe(epochs=2 if changed.get("full") else 20), changed)


def changed_from(name: str, paper: Made, ours: Made, changed: Mapping[str, Any]) -> Made:
    """A named recipe, or ours, with what a user changed."""
    recipes = {"": ours, "paper": paper}
    if name not in recipes:
        raise UnknownName("recipe", name, ["paper"])
    return replace(recipes[name], **changed)


def check_order(recipe: Recipe, out: Path) -> None:
    """Raises at once for what would fail after the work, whatever the model."""
    if out.is_dir():
        raise UsageError(
            f"{out} is a folder. A head is one file. Name one, such as {out / 'nsp.safetensors'}."
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
                f"A learning rate is {rate}. It must be above 0. Choose one such as 2e-5."
            )
    make_room(out)


def check_new_folder(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(
            f"{out} already exists. A model needs a folder of its own. Name another with --out."
        )


def check_seed(seed: int) -> None:
    if not 0 <= seed < LARGEST_SEED:
        raise UsageError(
            f"The seed is {seed}. It is a number from 0 up, below 2 to the 63. The default is 0."
        )


def with_states(backend: Backend | Scorer) -> "LanguageModel":
    """The model, where it is one whose states can be read."""
    if find_spec("torch") is not None:
        from stereometer.models.local.language_model import LanguageModel

        if isinstance(backend, LanguageModel):
            return backend
    raise UsageError(
        f"{backend.card.name} is a baseline or a server. It has no states. Name a language model."
    )


def trainable(backend: Backend | Scorer) -> "LanguageModel":
    """The model, where something that is trained on its states is not the base's."""
    model = with_states(backend)
    if model.own_states:
        return model
    raise UsageError(
        f"{model.checkpoint.name} has the states of its base. This mitigation changes only what "
        "reads them, so what is trained would be the base's. Name the base, or a model with `cda`."
    )
