"""What a mitigation method is, what it can be told, what it is given and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from stereometer.core.errors import UsageError
from stereometer.core.options import Option
from stereometer.core.types import NoOptions
from stereometer.wings.mitigation.attribute import Attribute
from stereometer.wings.mitigation.card import PROJECTION
from stereometer.wings.mitigation.methods.sentences import TrainingSentences, counted

if TYPE_CHECKING:
    from torch import Tensor

    from stereometer.core.runs.progress import Phases
    from stereometer.models.local.language_model import LanguageModel
    from stereometer.wings.mitigation.methods.states import StateReader, States


@dataclass(frozen=True)
class InlpOptions:
    rounds: Annotated[
        int,
        Option(
            "Number of classifiers, one after another; by default 80 for `paper` and at most 40 "
            "for `sound`.",
            has_default=False,
        ),
    ] = 0


@dataclass(frozen=True)
class SentenceDebiasOptions:
    components: Annotated[int, "Directions that are removed."] = 1


@dataclass(frozen=True)
class SelfDebiasOptions:
    prompt: Annotated[
        str, "What is put before a text; by default our prompt for the attribute."
    ] = ""
    decay: Annotated[
        float, "lambda: how fast a word's weight falls as the prompt makes the word likelier."
    ] = 50.0
    eps: Annotated[float, "The least weight of a word."] = 0.01


@dataclass(frozen=True)
class CdaOptions:
    dropout: Annotated[
        float | None, "Use the Dropout method instead: no swaps, and this dropout rate."
    ] = None
    tokens: Annotated[int, "Train on at most this many tokens."] = 300_000
    rank: Annotated[int, "Rank of the change to each linear layer."] = 8
    rate: Annotated[float, "The learning rate."] = 3e-4


@dataclass(frozen=True)
class MitigationOrder:
    """What a method is asked to fit."""

    backend: LanguageModel
    attribute: Attribute
    sentences: TrainingSentences
    variant: str
    options: Any
    """An instance of the method's dataclass."""
    seed: int
    progress: Phases
    keep: Path | None = None
    """A folder in which states are kept."""

    def counted(self, states: States) -> dict[str, int]:
        """Sentences that were read, of those to fit on, by class."""
        fit = self.sentences.fit
        return counted((fit[at] for at in states.sentences.unique().tolist()), self.attribute)

    def reader(self, backend: LanguageModel | None = None, layer: int = 0) -> StateReader:
        """Of the model's states, or another's."""
        from stereometer.wings.mitigation.methods.states import StateReader

        model, swaps = backend or self.backend, self.sentences.swaps
        return StateReader(model, swaps, self.seed, self.progress, layer, self.keep)


@dataclass(frozen=True)
class MitigationFit:
    """What goes into the file, and what its card says of it."""

    tensors: Mapping[str, Tensor]
    rank: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sentences: Mapping[str, int] = field(default_factory=dict)
    """That it was fitted on, by class; a model may be unable to read some that were drawn."""


class MitigationMethod:
    """What stands in the catalog under `mitigation` inherits this."""

    name = ""
    form = PROJECTION
    """How it is put onto a model."""
    variants: tuple[str, ...] = ("sound",)
    families = frozenset({"masked", "causal"})
    """Of models that it is for."""
    options: type[Any] = NoOptions
    """A frozen dataclass with a default for every field."""

    def fit(self, order: MitigationOrder) -> MitigationFit:
        raise NotImplementedError

    def control(self, order: MitigationOrder, fitted: MitigationFit) -> MitigationFit | None:
        """What is measured beside it; its own name is in `settings["control"]`."""
        raise NotImplementedError

    def check(self, family: str, variant: str, model: str) -> None:
        """Raises for a model or a variant that the method is not for."""
        if family not in self.families:
            fitting = " and ".join(sorted(self.families))
            raise UsageError(
                f"{self.name} is for {fitting} models, and {model} is {family}. What such a model "
                "reads at a word depends on which words are asked. Choose another model."
            )
        if variant not in self.variants:
            raise UsageError(
                f"{self.name} has no variant '{variant}'. It has {' and '.join(self.variants)}. "
                "Choose one of those with --variant."
            )
