"""What masked, causal and permuted backends share: a checkpoint, its card, and encoding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from stereometer.backends.local.blanks import Blanks, Way
from stereometer.backends.local.checkpoint import Checkpoint
from stereometer.backends.local.digests import config_digest, own_code, tokenizer_digest
from stereometer.backends.local.forward import Split
from stereometer.backends.local.generation import template_of
from stereometer.backends.local.tokens import UNBOUNDED, Tokens, canaries, window_of
from stereometer.backends.local.unused import unused_note
from stereometer.types import (
    Abilities,
    Answer,
    Encoding,
    Generate,
    MaskedBlank,
    ModelCard,
    NextTokens,
    Request,
)

VERSION = "1"

Place = tuple[str, int]
"""A request's key and the number of a value in its row."""
Values = list[tuple[Place, float]]


class LanguageModel(ABC):
    """A loaded checkpoint that can say what it is."""

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        self.checkpoint = checkpoint
        self.model: Any = checkpoint.model
        self.split = Split(self.model)
        self.tokens = Tokens(
            checkpoint.tokenizer,
            checkpoint.family == "causal",
            window_of(checkpoint.tokenizer, self.model),
            self.split.vocabulary,
            int(getattr(self.model.config, "type_vocab_size", 0) or UNBOUNDED),
        )
        self.added: dict[str, Any] = {}
        """Settings of what was put onto the model after loading, such as a next-sentence head."""
        self.config = config_digest(self.model, checkpoint.tokenizer)
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
    def abilities(self) -> Abilities:
        """What the family can do and what was added to the model, such as a next-sentence head."""
        blank = self.answers.keys() & {MaskedBlank.kind, NextTokens.kind}
        return Abilities(
            kinds=frozenset(self.answers),
            columns=self.blanks.columns if blank else frozenset(),
            mask=self.checkpoint.tokenizer.mask_token,
            window=self.tokens.window,
            chat_template=self.chat_template,
            any_order=self.checkpoint.family == "permuted",
            cautions=self.cautions,
        )

    @cached_property
    def blanks(self) -> Blanks:
        """What can be asked of one position."""
        return Blanks(self.split, self.tokens)

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        self.split.check_steady(
            max((_ids(each) for each in requests.values()), key=len, default=())
        )
        for kind in dict.fromkeys(request.kind for request in requests.values()):
            yield from self.answers[kind](
                {key: request for key, request in requests.items() if request.kind == kind}
            )

    def encode(self, text: str, second: str | None = None) -> Encoding:
        return self.tokens.encode(text, second)

    def decode(self, ids: Sequence[int]) -> str:
        """The text that tokens stand for, as their tokenizer writes it."""
        return str(self.checkpoint.tokenizer.decode(list(ids)))

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Why a `paper` variant may not come out with this tokenizer."""
        return tuple(canaries(self.tokens))

    @property
    def weights(self) -> str:
        """The digest of the weights."""
        return self.checkpoint.weights

    @cached_property
    def chat_template(self) -> str:
        """What a conversation is read through; empty where there is none or nothing is written."""
        return template_of(self.checkpoint.tokenizer) if Generate.kind in self.answers else ""

    @cached_property
    def card(self) -> ModelCard:
        point = self.checkpoint
        template = {"chat_template": self.chat_template} if self.chat_template else {}
        return ModelCard(
            name=point.name,
            spec=point.spec,
            family=point.family,
            backend=f"{point.family}@{VERSION}",
            digest=self.weights,
            tokenizer_digest=tokenizer_digest(point.tokenizer),
            dtype=point.options.dtype,
            settings={
                "parameters": self.model.num_parameters(),
                "config": self.config,
                **self.tokens.settings,
                **template,
                **self.added,
            },
            notes=(*self.notes, *_loading_notes(point)),
        )


def _ids(request: Request) -> Sequence[int]:
    """The tokens of a request; text that is not read into tokens yet has none."""
    ids: Sequence[int] = getattr(request, "ids", ())
    return ids


def _loading_notes(checkpoint: Checkpoint) -> Iterator[str]:
    options, quantized = checkpoint.options, checkpoint.quantized
    if quantized not in ("", "F32"):
        yield f"Weights were stored as {quantized} and are not those of the full model."
    if options.dtype != "float32":
        yield f"Computed in {options.dtype}, not float32."
    if checkpoint.unused:
        yield unused_note(checkpoint.unused)
    if options.allow_pickle:
        yield "Loaded with --allow-pickle."
    if options.trust_remote_code:
        yield "Loaded with --trust-remote-code."
    elif own_code(checkpoint.model):
        yield "The model brought code of its own, and that code runs."
    elif getattr(checkpoint.model.config, "auto_map", None) or (
        checkpoint.tokenizer.init_kwargs.get("auto_map")
    ):
        yield (
            "The checkpoint brings code of its own, which was not run: `auto_map` is ignored, and "
            "model and tokenizer are built by transformers instead."
        )


def completed(lengths: Mapping[str, int], parts: Iterable[Values]) -> Iterator[tuple[str, Answer]]:
    """Answers with rows of these lengths, each as soon as its last value is there."""
    rows = {key: array("d", bytes(8 * length)) for key, length in lengths.items()}
    missing = dict(lengths)
    for values in parts:
        for (key, number), value in values:
            rows[key][number] = value
            missing[key] -= 1
            if not missing[key]:
                yield key, Answer(({"logprob": rows.pop(key)},))


def placed(
    asked: Iterable[Mapping[int, Iterable[Place]]], rows: Iterable[Iterable[float]]
) -> Values:
    """Every value at the places that asked for it; a row of values for each row of tokens."""
    return [
        (place, value)
        for tokens, row in zip(asked, rows, strict=True)
        for places, value in zip(tokens.values(), row, strict=True)
        for place in places
    ]
