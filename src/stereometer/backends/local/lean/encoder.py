"""A lean trunk for BERT's build: BERT, RoBERTa, XLM-R, ELECTRA ..."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from math import sqrt
from typing import Any

import torch
from torch import Tensor

from stereometer.backends.local.forward import ENOUGH_ROWS, Texts
from stereometer.backends.local.lean.parts import (
    Affine,
    Block,
    attention,
    blocks,
    even_parts,
    has_parts,
    in_place,
    workspace,
)

ASKED = 512
"""Asked places that go through the last layer at once."""
LAYER = """attention.self.query attention.self.key attention.self.value attention.output.dense
attention.output.LayerNorm intermediate.dense output.dense output.LayerNorm"""
TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm")

Spots = Sequence[tuple[int, int]]
"""(number of the text, position) of each asked place, in the order of the texts."""


def is_post_norm_encoder(trunk: Any) -> bool:
    """Embeddings of words, positions and segments under one norm, then layers that normalise after
    adding; every token sees every other: no window, no blocks."""
    try:
        return (
            not hasattr(trunk.config, "attention_window")
            and getattr(trunk.config, "attention_type", "original_full") == "original_full"
            and has_parts(trunk.encoder.layer, LAYER)
            and all(hasattr(trunk.embeddings, name) for name in TABLES)
        )
    except AttributeError:
        return False


class PostNormEncoder:
    def __init__(self, trunk: Any) -> None:
        self.embeddings = trunk.embeddings
        positions = trunk.embeddings.position_embeddings
        self.padding: int | None = getattr(positions, "padding_idx", None)
        self.project = getattr(trunk, "embeddings_project", None)
        heads = int(trunk.config.num_attention_heads)
        self.layers = [_Layer(layer, heads) for layer in trunk.encoder.layer]

    def __call__(self, ids: Texts, segments: Texts | None, spots: Spots) -> Tensor:
        layout = list(blocks(ids))
        table, place = self._embedded(ids, segments)
        states = table[place]
        projected = [part[place] for part in self.layers[0].projections(table)]
        wide = workspace(states, self.layers[0].wide.weight.shape[1])
        for number, layer in enumerate(self.layers[:-1]):
            if number:
                projected = layer.projections(states)
            layer.finish(states, layer.attend(projected, layout), wide)
        # Some places are asked in vain, so that the last layer never has only a few.
        rest = len(spots) % ASKED
        asked = [*spots, *[spots[-1]] * (ENOUGH_ROWS - rest if rest else 0)]
        parts = (asked[start : start + ASKED] for start in range(0, len(asked), ASKED))
        rows = torch.cat([self.layers[-1].at(states, layout, part, wide) for part in parts])
        return rows[: len(spots)]

    def _embedded(self, ids: Texts, segments: Texts | None) -> tuple[Tensor, Tensor]:
        """Embeddings of each distinct (token, position, segment), and which each token has."""
        tokens = _joined(ids)
        positions = _joined(map(self._positions, ids))
        kinds = _joined(segments) if segments is not None else torch.zeros_like(tokens)
        places = int(positions.max()) + 1
        numbered = (tokens * places + positions) * 2 + kinds
        distinct, place = torch.unique(numbered, return_inverse=True)
        kind, rest = distinct % 2, distinct // 2
        tables = self.embeddings
        table = tables.word_embeddings(rest // places) + tables.token_type_embeddings(kind)
        table = tables.LayerNorm(table + tables.position_embeddings(rest % places))
        return (table if self.project is None else self.project(table)), place

    def _positions(self, text: Sequence[int]) -> Iterable[int]:
        """Positions may begin after that of padding, and a text may name the padding token."""
        padding = self.padding
        if padding is None:
            return range(len(text))
        if padding not in text:
            return range(padding + 1, padding + 1 + len(text))
        counts = accumulate(token != padding for token in text)
        return [
            padding + (count if token != padding else 0)
            for token, count in zip(text, counts, strict=True)
        ]


def _joined(texts: Iterable[Iterable[int]]) -> Tensor:
    return torch.tensor(list(chain.from_iterable(texts)))


class _Layer:
    def __init__(self, layer: Any, heads: int) -> None:
        self.heads = heads
        attention_ = layer.attention.self
        self.query, self.key = Affine(attention_.query), Affine(attention_.key)
        self.value = Affine(attention_.value)
        self.joined = Affine(layer.attention.output.dense)
        self.attention_norm = layer.attention.output.LayerNorm
        self.wide, self.narrow = Affine(layer.intermediate.dense), Affine(layer.output.dense)
        self.activation = in_place(layer.intermediate.intermediate_act_fn)
        self.output_norm = layer.output.LayerNorm

    def projections(self, states: Tensor) -> list[Tensor]:
        return [self.query(states), self.key(states), self.value(states)]

    def attend(self, projected: list[Tensor], layout: Sequence[Block]) -> Tensor:
        mixed = torch.empty_like(projected[0])
        for block in layout:
            tokens = [part[block.tokens] for part in projected]
            mixed[block.tokens] = attention(tokens, block.count, self.heads)
        return mixed

    def finish(self, states: Tensor, mixed: Tensor, wide: Tensor) -> None:
        """What comes after attention, written over the states."""
        for part in even_parts(len(states)):
            rows = self.attention_norm(self.joined.onto(states[part], mixed[part]))
            hidden = self.activation(self.wide(rows, wide))
            states[part] = self.output_norm(self.narrow.onto(rows, hidden))

    def at(self, states: Tensor, layout: Sequence[Block], spots: Spots, wide: Tensor) -> Tensor:
        """This layer's output at the asked places only.

        Keys and values of all tokens are never made: q.(h K) = (q K').h moves the key's matrix to
        the few queries, and sum(a (h V)) = sum(a h) V moves the value's behind the sum. The key's
        bias adds the same to all scores of a row.
        """
        starts = {
            block.text + number: block.token + number * block.length
            for block in layout
            for number in range(block.count)
        }
        rows = states[torch.tensor([starts[text] + position for text, position in spots])]
        size = rows.shape[1] // self.heads
        key, value = (part.weight.t().view(self.heads, size, -1) for part in (self.key, self.value))
        query = self.query(rows).view(len(spots), self.heads, size).transpose(0, 1) / sqrt(size)
        probes = torch.bmm(query, key).transpose(0, 1)
        seen = torch.cat(list(self._seen(states, layout, spots, probes)))
        mixed = torch.bmm(seen.transpose(0, 1), value.transpose(1, 2))
        self.finish(rows, mixed.transpose(0, 1).reshape(len(spots), -1) + self.value.bias, wide)
        return rows

    def _seen(
        self, states: Tensor, layout: Sequence[Block], spots: Spots, probes: Tensor
    ) -> Iterator[Tensor]:
        """For each spot and head the mean of its text's states, weighted by attention."""
        start = 0
        for block in layout:
            rows = [text - block.text for text, _ in spots if text in block.texts]
            if not rows:
                continue
            texts = states[block.tokens].view(block.count, block.length, -1)[torch.tensor(rows)]
            scores = torch.bmm(probes[start : start + len(rows)], texts.transpose(1, 2))
            yield torch.bmm(scores.softmax(-1), texts)
            start += len(rows)
