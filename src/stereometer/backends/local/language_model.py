"""What masked, causal and permuted backends share: a checkpoint, its card, and encoding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from stereometer.backends.local.blanks import Blanks
from stereometer.backends.local.checkpoint import (
    Checkpoint,
    config_digest,
    tokenizer_digest,
    weights_digest,
)
from stereometer.backends.local.forward import Split
from stereometer.backends.local.generation import template_of
from stereometer.backends.local.tokens import UNBOUNDED, Tokens, canaries, window_of
from stereometer.types import (
    Answer,
    Encoding,
    Generate,
    MaskedBlank,
    ModelCard,
    NextTokens,
    Request,
)

VERSION = "1"

Way = Callable[[Mapping[str, Any]], Iterator[tuple[str, Answer]]]
"""From requests of one kind, by key, to their answers."""


class LanguageModel(ABC):
    """A loaded checkpoint that can say what it is."""

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        self.checkpoint = checkpoint
        self.model: Any = checkpoint.model
        self.split = Split(checkpoint.model)
        window = window_of(checkpoint.tokenizer, checkpoint.model)
        self.tokens = Tokens(
            checkpoint.tokenizer,
            checkpoint.family == "causal",
            window,
            self.split.vocabulary,
            _kinds(checkpoint.model),
        )
        self.added: dict[str, Any] = {}
        """Settings of what was put onto the model after loading, such as a next-sentence head."""
        self.check_pair: Callable[[str, str], object] | None = None
        """Raises Skip for two sentences that a next-sentence head cannot judge."""
        self.config = config_digest(checkpoint.model, checkpoint.tokenizer)
        self.notes = list(notes)
        """What the card says besides what follows from the checkpoint."""

    @abstractmethod
    def ways(self) -> Mapping[str, Way]:
        """How each kind of request is answered: what this family can do by itself."""

    @cached_property
    def answers(self) -> dict[str, Way]:
        """By kind of request; what can be added to a model (a next-sentence head) adds its own."""
        return dict(self.ways())

    @property
    def supports(self) -> frozenset[str]:
        blank = self.answers.keys() & {MaskedBlank.kind, NextTokens.kind}
        return frozenset(self.answers) | (self.blanks.columns if blank else frozenset())

    @cached_property
    def blanks(self) -> Blanks:
        """What can be asked of one position."""
        return Blanks(self.split, self.tokens)

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for kind in dict.fromkeys(request.kind for request in requests.values()):
            yield from self.answers[kind](
                {key: request for key, request in requests.items() if request.kind == kind}
            )

    def encode(self, text: str, second: str | None = None) -> Encoding:
        return self.tokens.encode(text, second)

    @cached_property
    def warnings(self) -> list[str]:
        """Why a `paper` variant may not come out with this tokenizer."""
        return canaries(self.tokens)

    @cached_property
    def weights(self) -> str:
        """The digest of the weights."""
        return weights_digest(self.model)

    @cached_property
    def card(self) -> ModelCard:
        point = self.checkpoint
        return ModelCard(
            name=point.name,
            family=point.family,
            backend=f"{point.family}@{VERSION}",
            digest=self.weights,
            tokenizer_digest=tokenizer_digest(point.tokenizer),
            dtype=point.options.dtype,
            settings={
                "parameters": self.model.num_parameters(),
                "config": self.config,
                **self.tokens.settings,
                **self._read_through(),
                **self.added,
            },
            notes=(
                *self.notes,
                *self._labels(),
                "Likelihoods are of raw text: no chat template is applied.",
            ),
        )

    @cached_property
    def chat_template(self) -> str:
        """What a conversation is read through; empty where the model has no template or does not write."""
        return template_of(self.checkpoint.tokenizer) if Generate.kind in self.answers else ""

    def _read_through(self) -> dict[str, str]:
        """Answers to a conversation depend on its template."""
        return {"chat_template": self.chat_template} if self.chat_template else {}

    def _labels(self) -> list[str]:
        options, quantized = self.checkpoint.options, self.checkpoint.quantized
        labels = (
            [f"Weights were stored as {quantized} and are not those of the full model."]
            if quantized not in ("", "F32")
            else []
        )
        labels += (
            [f"Computed in {options.dtype}, not float32."] if options.dtype != "float32" else []
        )
        labels += ["Loaded with --allow-pickle."] if options.allow_pickle else []
        labels += ["Loaded with --trust-remote-code."] if options.trust_remote_code else []
        return labels


def _kinds(model: Any) -> int:
    """How many segments a model tells apart; where it does not say, whatever its tokenizer gives."""
    return int(getattr(model.config, "type_vocab_size", 0) or UNBOUNDED)
