"""Blanks: everything that is asked of one position, from one forward pass and one row of logits."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from stereometer.backends.local.forward import (
    LOGIT_BYTES,
    Split,
    equal_length,
    packed,
    token_budget,
)
from stereometer.backends.local.lean import Trunk
from stereometer.backends.local.memory import shrinking
from stereometer.backends.local.output_layer import output_layer
from stereometer.backends.local.tokens import Tokens
from stereometer.backends.local.word_classes import NEITHER, word_classes
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

Blank = MaskedBlank | NextTokens
Way = Callable[[Mapping[str, Any]], Iterator[tuple[str, Answer]]]
SLICE = 16
"""Bytes a logit takes while a slice of rows is worked on: it and its log-probability in float64."""


@dataclass
class Text:
    """Token ids that go through the model once, and the requests that ask something of them."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    asked: list[tuple[str, int]] = field(default_factory=list)
    """Key and position of each request."""

    def __len__(self) -> int:
        return len(self.ids)


class Blanks:
    """Columns of asked tokens from rows of states; what the model's structure does not allow is left out."""

    def __init__(self, split: Split, tokens: Tokens) -> None:
        self.split = split
        self.tokens = tokens

    @cached_property
    def output(self) -> Callable[[Tensor], tuple[Tensor, Tensor, Tensor]] | None:
        return output_layer(self.split)

    @cached_property
    def classes(self) -> Tensor | None:
        """For each token whether it begins a word, goes on with one, or neither."""
        found = word_classes(self.tokens.tokenizer, self.split.vocabulary)
        return None if found is None else torch.from_numpy(found)

    @property
    def columns(self) -> frozenset[str]:
        known = {WORD_MASSES: self.classes, SET_DISTANCES: self.output}
        return frozenset(name for name, there in known.items() if there is not None)

    def rows(self, states: Tensor, requests: Sequence[Blank]) -> list[Row]:
        """The row of each request from its row of states; logits are made a slice at a time."""
        step = max(1, LOGIT_BYTES // (SLICE * self.split.vocabulary))
        return [
            row
            for start in range(0, len(requests), step)
            for row in self._slice(states[start : start + step], requests[start : start + step])
        ]

    def _slice(self, states: Tensor, requests: Sequence[Blank]) -> Iterator[Row]:
        logits, own, squared = (
            self.output(states)
            if self.output is not None
            else (self.split.head(states), None, None)
        )
        scores = logits.double().log_softmax(-1).cpu()
        masses = self._masses(scores)
        for at, request in enumerate(requests):
            asked = torch.tensor(request.asked)
            row = {"logprob": array("d", scores[at, asked].tolist())}
            if masses is not None and self.classes is not None:
                row["logmass"] = array("d", masses[at, self.classes[asked]].tolist())
            if own is not None and squared is not None:
                found = set_distances(
                    own[at].double().cpu().numpy(),
                    request.asked,
                    float(squared[at]),
                    request.margin,
                )
                row["distance"] = array("d", found.tolist())
            yield row

    def _masses(self, scores: Tensor) -> Tensor | None:
        """The log-mass of each class of tokens in each row; a token of neither class stands by itself."""
        if self.classes is None:
            return None
        found = (
            scores.exp() @ torch.nn.functional.one_hot(self.classes, NEITHER + 1).double()
        ).log()
        found[:, NEITHER] = 0.0
        return found


def masked_ways(blanks: Blanks, trunk: Trunk, mask: int) -> dict[str, Way]:
    """What a masked model answers of all this, by kind of request."""
    return {MaskedBlank.kind: MaskedBlanks(blanks, trunk, mask).answer, **_vector_way(blanks.split)}


def next_ways(blanks: Blanks) -> dict[str, Way]:
    """What a causal model answers of it."""
    return {NextTokens.kind: NextBlanks(blanks).answer, **_vector_way(blanks.split)}


def _vector_way(split: Split) -> dict[str, Way]:
    """States are to be had where the model comes apart."""
    return {} if split.whole else {SpanVectors.kind: Vectors(split).answer}


class MaskedBlanks:
    """For models that fill in masks."""

    def __init__(self, blanks: Blanks, trunk: Trunk, mask: int) -> None:
        self.blanks, self.trunk, self.mask = blanks, trunk, mask

    def answer(self, requests: Mapping[str, MaskedBlank]) -> Iterator[tuple[str, Answer]]:
        texts = gathered(
            {
                key: (request.ids, request.segments, request.position)
                for key, request in requests.items()
            },
            self.mask,
        )
        for batch in packed(texts, token_budget(self.blanks.split)):
            for part in shrinking(batch, lambda some: self._batch(some, requests)):
                yield from part

    @torch.inference_mode()
    def _batch(
        self, batch: list[Text], requests: Mapping[str, MaskedBlank]
    ) -> list[tuple[str, Answer]]:
        segments = [text.segments for text in batch] if batch[0].segments else None
        spots = [
            (index, position) for index, text in enumerate(batch) for _, position in text.asked
        ]
        keys = [key for text in batch for key, _ in text.asked]
        states = self.trunk([text.ids for text in batch], segments, spots)
        return _paired(keys, self.blanks.rows(states, [requests[key] for key in keys]))


class NextBlanks:
    """For models that read from left to right."""

    def __init__(self, blanks: Blanks) -> None:
        self.blanks = blanks

    def answer(self, requests: Mapping[str, NextTokens]) -> Iterator[tuple[str, Answer]]:
        texts = gathered(
            {key: (request.ids, (), len(request.ids) - 1) for key, request in requests.items()}
        )
        for batch in equal_length(texts, token_budget(self.blanks.split)):
            for part in shrinking(batch, lambda some: self._batch(some, requests)):
                yield from part

    @torch.inference_mode()
    def _batch(
        self, batch: list[Text], requests: Mapping[str, NextTokens]
    ) -> list[tuple[str, Answer]]:
        states = _states(self.blanks.split, batch)
        keys = [key for text in batch for key, _ in text.asked]
        rows = torch.tensor([index for index, text in enumerate(batch) for _ in text.asked])
        return _paired(keys, self.blanks.rows(states[rows, -1], [requests[key] for key in keys]))


class Vectors:
    """The last hidden states of some positions."""

    def __init__(self, split: Split) -> None:
        self.split = split

    def answer(self, requests: Mapping[str, SpanVectors]) -> Iterator[tuple[str, Answer]]:
        texts = gathered(
            {key: (request.ids, request.segments, 0) for key, request in requests.items()}
        )
        for batch in equal_length(texts, token_budget(self.split)):
            for part in shrinking(batch, lambda some: self._batch(some, requests)):
                yield from part

    @torch.inference_mode()
    def _batch(
        self, batch: list[Text], requests: Mapping[str, SpanVectors]
    ) -> list[tuple[str, Answer]]:
        states = _states(self.split, batch).double().cpu()
        return [
            (
                key,
                Answer(
                    tuple(
                        {"vector": array("d", states[index, position].tolist())}
                        for position in requests[key].positions
                    )
                ),
            )
            for index, text in enumerate(batch)
            for key, _ in text.asked
        ]


def gathered(
    asked: Mapping[str, tuple[tuple[int, ...], tuple[int, ...], int]], mask: int = HIDDEN
) -> list[Text]:
    """Every distinct text once, masks in their places."""
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], Text] = {}
    for key, (ids, segments, position) in asked.items():
        shown = tuple(mask if one == HIDDEN else one for one in ids)
        found.setdefault((shown, segments), Text(shown, segments)).asked.append((key, position))
    return list(found.values())


def _states(split: Split, batch: Sequence[Text]) -> Tensor:
    """Of texts of one length, at all positions."""
    ids = torch.tensor([text.ids for text in batch], device=split.device)
    inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if "use_cache" in split.takes:
        inputs["use_cache"] = False
    if batch[0].segments and "token_type_ids" in split.takes:
        inputs["token_type_ids"] = torch.tensor(
            [text.segments for text in batch], device=split.device
        )
    return split.trunk(**inputs)


def _paired(keys: Sequence[str], rows: Sequence[Row]) -> list[tuple[str, Answer]]:
    return [(key, Answer((row,))) for key, row in zip(keys, rows, strict=True)]
