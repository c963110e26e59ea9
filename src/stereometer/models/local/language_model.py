"""What masked, causal and permuted backends share: a checkpoint, its card, encoding, and blanks:
everything that is asked of one position, from one forward pass and one row of logits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from stereometer.core.types import (
    HIDDEN,
    ORIGIN,
    SET_DISTANCES,
    WORD_MASSES,
    Abilities,
    Answer,
    Encoding,
    Generate,
    MaskedBlank,
    ModelCard,
    NextTokens,
    Options,
    Request,
    Row,
    SpanVectors,
)
from stereometer.models.local.batches import Text, Tree, each, equal_length, packed, segments_of
from stereometer.models.local.checkpoint import Checkpoint
from stereometer.models.local.files import config_digest, own_code, tokenizer_digest
from stereometer.models.local.forward import (
    OutputLayer,
    SplitModel,
    enough,
    output_layer,
    slices,
    token_budget,
)
from stereometer.models.local.lean.choice import Head, Trunk, head_for
from stereometer.models.local.places import CPU
from stereometer.models.local.prompts import template_of, thinking_notes, thinking_settings
from stereometer.models.local.set_distance import set_distances
from stereometer.models.local.tokens import (
    NAMED,
    NEITHER,
    UNBOUNDED,
    Tokens,
    canaries,
    window_of,
    word_classes,
)

Answers = Iterable[tuple[str, Answer]]
Way = Callable[[Mapping[str, Any]], Answers]
"""From requests of one kind, by key, to their answers."""
LOGIT_SIZE = 16
"""Bytes that a logit takes while it is worked on: it and its log-probability in float64."""


def texts_of(
    requests: Mapping[str, MaskedBlank | NextTokens | SpanVectors], mask: int = HIDDEN
) -> list[Text]:
    """Every distinct text once, masks in their places."""
    texts: dict[tuple[tuple[int, ...], ...], Text] = {}
    for key, request in requests.items():
        ids = tuple(mask if token == HIDDEN else token for token in request.ids)
        segments = () if isinstance(request, NextTokens) else request.segments
        texts.setdefault((ids, segments), Text(ids, segments)).asked[key] = request
    return list(texts.values())


class Blanks:
    """Answers from rows of states, with the columns that the model's structure allows."""

    def __init__(self, split: SplitModel, tokens: Tokens) -> None:
        self.split = split
        self.tokens = tokens

    @cached_property
    def output(self) -> OutputLayer | None:
        return output_layer(self.split)

    @cached_property
    def classes(self) -> Tensor | None:
        """For each token whether it begins a word, goes on with one, or neither."""
        return word_classes(self.tokens.tokenizer, self.split.vocabulary)

    @cached_property
    def written_classes(self) -> Tensor | None:
        """By how tokens are written, special ones too."""
        return word_classes(self.tokens.tokenizer, self.split.vocabulary, with_special=True)

    @property
    def columns(self) -> frozenset[str]:
        parts = {WORD_MASSES: self.classes, SET_DISTANCES: self.output}
        return frozenset(name for name, part in parts.items() if part is not None)

    def masked_ways(self, trunk: Trunk, mask: int) -> dict[str, Way]:
        """What a masked model answers of all this, by kind of request."""

        @torch.inference_mode()
        def run(batch: list[Text]) -> Answers:
            spots = [
                (number, request.position)
                for number, text in enumerate(batch)
                for request in text.asked.values()
            ]
            states = trunk([text.ids for text in batch], segments_of(batch), spots)
            return self._answers(batch, states)

        def answer(requests: Mapping[str, MaskedBlank]) -> Answers:
            batches = packed(texts_of(requests, mask), token_budget(self.split))
            return (pair for part in each(batches, run) for pair in part)

        return {MaskedBlank.kind: answer, **self._vector_way()}

    def next_ways(self) -> dict[str, Way]:
        """What a causal model answers of it."""

        def run(batch: list[Text], states: Tensor) -> Answers:
            rows = [number for number, text in enumerate(batch) for _ in text.asked]
            return self._answers(batch, states[torch.tensor(rows), -1])

        return {NextTokens.kind: self._over_states(run), **self._vector_way()}

    def _vector_way(self) -> dict[str, Way]:
        """States are to be had where the model comes apart."""
        return {} if self.split.whole else {SpanVectors.kind: self._over_states(_vectors)}

    def _over_states(self, run: Callable[[list[Text], Tensor], Answers]) -> Way:
        """Answers from the states of all positions of texts of one length."""

        @torch.inference_mode()
        def run_batch(batch: list[Text]) -> Answers:
            inputs = self.split.inputs([text.ids for text in batch], segments_of(batch))
            if "use_cache" in self.split.takes:
                inputs["use_cache"] = False
            return run(batch, self.split.trunk(**inputs)[: len(batch)])

        def answer(requests: Mapping[str, Any]) -> Answers:
            batches = equal_length(texts_of(requests), token_budget(self.split))
            return (pair for part in each(batches, run_batch) for pair in part)

        return answer

    def _answers(self, batch: list[Text], states: Tensor) -> Answers:
        """The row of each request from its row of states; logits are made a slice at a time."""
        asked = {key: request for text in batch for key, request in text.asked.items()}
        requests = list(asked.values())
        rows = [
            row
            for part in slices(self.split, len(requests), LOGIT_SIZE)
            for row in self._rows(states[part], requests[part])
        ]
        return [(key, Answer((row,))) for key, row in zip(asked, rows, strict=True)]

    def _rows(self, states: Tensor, requests: Sequence[MaskedBlank | NextTokens]) -> Iterator[Row]:
        if self.output is not None:
            logits, own, squared = self.output(enough(states))
        else:
            logits, own, squared = self.split.head(enough(states)), None, None
        rows = self.from_scores(logits.double().log_softmax(-1), requests)
        for at, (row, request) in enumerate(zip(rows, requests, strict=True)):
            if own is not None and squared is not None:
                layer = own[at].double().cpu().numpy()
                far = set_distances(layer, request.asked, float(squared[at]), request.margin)
                row["distance"] = array("d", far.tolist())
            yield row

    def from_scores(
        self, scores: Tensor, requests: Sequence[MaskedBlank | NextTokens]
    ) -> Iterator[dict[str, array[float]]]:
        """What follows from log-probabilities in float64 alone; rows beyond the requests are not
        read."""
        scores, classes = scores.cpu(), self.classes
        masses = None if classes is None else _masses(scores, classes)
        for at, request in enumerate(requests):
            asked = torch.tensor(request.asked)
            row = {"logprob": array("d", scores[at, asked].tolist())}
            if masses is not None and classes is not None:
                mass = masses[at, classes[asked]]
                if isinstance(request, MaskedBlank) and request.position_class:
                    # The class that the request names, for every token alike.
                    assert self.written_classes is not None
                    written = _masses(scores[at : at + 1], self.written_classes)[0]
                    mass = written[NAMED[request.position_class]].expand(len(asked))
                row["logmass"] = array("d", mass.tolist())
            yield row


def _masses(scores: Tensor, classes: Tensor) -> Tensor:
    """The log-mass of each class in each row; a token of neither class stands by itself."""
    members = torch.nn.functional.one_hot(classes, NEITHER + 1).double()
    masses = (scores.exp() @ members).log()
    masses[:, NEITHER] = 0.0
    return masses


def _vectors(batch: list[Text], states: Tensor) -> Answers:
    """The last hidden states of some positions."""
    for text, vectors in zip(batch, states.double().cpu(), strict=True):
        for key, request in text.asked.items():
            rows = ({"vector": array("d", vectors[at].tolist())} for at in request.positions)
            yield key, Answer(tuple(rows))


# ------------------------------------------------------------------------------------------ a model

VERSION = "1"

Place = tuple[str, int]
"""A request's key and the number of a value in its row."""
Values = list[tuple[Place, float]]


class LanguageModel(ABC):
    """A loaded checkpoint that can say what it is."""

    def __init__(self, checkpoint: Checkpoint, notes: tuple[str, ...] = ()) -> None:
        self.checkpoint = checkpoint
        self.model: Any = checkpoint.model
        self.split = SplitModel(self.model)
        self.tokens = Tokens(
            checkpoint.tokenizer,
            checkpoint.family == "causal",
            window_of(checkpoint.tokenizer, self.model),
            self.split.vocabulary,
            int(getattr(self.model.config, "type_vocab_size", 0) or UNBOUNDED),
        )
        self.added: dict[str, Any] = {}
        """Settings of what was put onto the model after loading, such as a next-sentence head."""
        self.own_states = True
        """False where a wrapper left the states as its base has them: what reads them, or is
        trained on them, would be the base's."""
        self.config = config_digest(self.model, checkpoint.tokenizer)
        self.notes = list(notes)
        """What the card says besides what follows from the checkpoint."""

    @cached_property
    def head(self) -> Head:
        """From states to log-probabilities."""
        return head_for(self.split)

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
        thinking = self.how_to_think if self.chat_template else {}
        # Whoever has room to think does not begin with an option.
        no_options = {Options.kind} if thinking and all(thinking.values()) else set[str]()
        return Abilities(
            kinds=frozenset(self.answers.keys() - no_options),
            columns=self.blanks.columns if blank else frozenset(),
            mask=self.checkpoint.tokenizer.mask_token,
            window=self.tokens.window,
            chat_template=self.chat_template,
            any_order=self.checkpoint.family == "permuted",
            cautions=self.cautions,
            **thinking,
        )

    @cached_property
    def blanks(self) -> Blanks:
        """What can be asked of one position."""
        return Blanks(self.split, self.tokens)

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        # Text that is not read into tokens yet has none.
        ids = (getattr(request, "ids", ()) for request in requests.values())
        self.split.check_steady(max(ids, key=len, default=()))
        for kind in dict.fromkeys(request.kind for request in requests.values()):
            yield from self.answers[kind](
                {key: request for key, request in requests.items() if request.kind == kind}
            )

    def values_at(self, batch: Sequence[Text | Tree], states: Tensor) -> Values:
        """What is asked of some texts, from the states of the asked positions."""
        asked = [tokens for text in batch for tokens in text.asked.values()]
        return placed(asked, self.head(states, [list(tokens) for tokens in asked]))

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

    @property
    def how_to_think(self) -> dict[str, Any]:
        """In conversations, as far as the model holds any."""
        options = self.checkpoint.options
        return {"room": options.room, "thinking": options.thinking}

    @cached_property
    def card(self) -> ModelCard:
        point, template, notes = self.checkpoint, dict[str, Any](), list(self.notes)
        if self.chat_template:
            template = {"chat_template": self.chat_template} | thinking_settings(
                **self.how_to_think
            )
            notes += thinking_notes(str(point.tokenizer.chat_template), **self.how_to_think)
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
                **({ORIGIN: point.commit} if point.commit else {}),
                **template,
                **self.added,
            },
            notes=(*notes, *_loading_notes(point)),
        )


def _loading_notes(checkpoint: Checkpoint) -> Iterator[str]:
    options, quantized = checkpoint.options, checkpoint.quantized
    if quantized not in ("", "F32"):
        yield f"Weights were stored as {quantized} and are not those of the full model."
    if options.dtype != "float32":
        yield f"Computed in {options.dtype}, not float32."
    if options.device != CPU:
        yield f"Computed on {options.device}."
    if names := checkpoint.unused:
        others = f" and {len(names) - 3} others" if names[3:] else ""
        yield f"The file holds weights that the model does not use: {', '.join(names[:3])}{others}."
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
