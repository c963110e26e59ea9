"""Blanks: everything that is asked of one position, from one forward pass and one row of logits."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from stereometer.backends.local.batches import equal_length, packed, segments_of
from stereometer.backends.local.forward import Split, enough, slices, token_budget
from stereometer.backends.local.lean.choice import Trunk
from stereometer.backends.local.memory import each
from stereometer.backends.local.output_layer import OutputLayer, output_layer
from stereometer.backends.local.tokens import Tokens
from stereometer.backends.local.word_classes import NAMED, NEITHER, word_classes
from stereometer.stats.set_distance import set_distances
from stereometer.types import (
    HIDDEN,
    SET_DISTANCES,
    WORD_MASSES,
    Answer,
    MaskedBlank,
    NextTokens,
    Row,
    SpanVectors,
)

Answers = Iterable[tuple[str, Answer]]
Way = Callable[[Mapping[str, Any]], Answers]
"""From requests of one kind, by key, to their answers."""
LOGIT_SIZE = 16
"""Bytes that a logit takes while it is worked on: it and its log-probability in float64."""


@dataclass
class Text:
    """Token ids that go through the model once, and the requests that ask something of them."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    asked: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)


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

    def __init__(self, split: Split, tokens: Tokens) -> None:
        self.split = split
        self.tokens = tokens

    @cached_property
    def output(self) -> OutputLayer | None:
        return output_layer(self.split)

    @cached_property
    def classes(self) -> Tensor | None:
        """For each token whether it begins a word, goes on with one, or neither."""
        return self._classes(False)

    @cached_property
    def written_classes(self) -> Tensor | None:
        """By how tokens are written, special ones too."""
        return self._classes(True)

    def _classes(self, with_special: bool) -> Tensor | None:
        classes = word_classes(self.tokens.tokenizer, self.split.vocabulary, with_special)
        return None if classes is None else torch.from_numpy(classes)

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
        scores = scores.cpu()
        masses = None if self.classes is None else _masses(scores, self.classes)
        for at, request in enumerate(requests):
            asked = torch.tensor(request.asked)
            row = {"logprob": array("d", scores[at, asked].tolist())}
            if masses is not None and self.classes is not None:
                own = masses[at, self.classes[asked]].tolist()
                row["logmass"] = array("d", self._by_position(request, scores[at]) or own)
            yield row

    def _by_position(self, request: MaskedBlank | NextTokens, scores: Tensor) -> list[float]:
        """The log-mass of the class that the request names, for every token alike."""
        if isinstance(request, NextTokens) or not request.position_class:
            return []
        assert self.written_classes is not None
        masses = _masses(scores[None], self.written_classes)[0]
        return [float(masses[NAMED[request.position_class]])] * len(request.asked)


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
