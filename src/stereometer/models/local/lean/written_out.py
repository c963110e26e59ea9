"""Lean trunks, written out: for BERT's build (BERT, RoBERTa, XLM-R, ELECTRA ...), and for GPT-2's
over texts that share the nodes of a trie."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from math import ceil, pi, sqrt
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from stereometer.models.local.batches import Tree
from stereometer.models.local.forward import ENOUGH_ROWS, Texts, enough
from stereometer.models.local.lean.packed import (
    ROWS,
    Paths,
    TextBlock,
    blocks,
    paths_of,
    put,
    taken,
)


class Affine:
    """x W + b, written where it is wanted."""

    def __init__(self, module: Any) -> None:
        is_linear = isinstance(module, torch.nn.Linear)
        self.weight: Tensor = module.weight.t() if is_linear else module.weight
        self.bias: Tensor = module.bias

    def __call__(self, inputs: Tensor, out: Tensor | None = None) -> Tensor:
        if len(inputs) < ENOUGH_ROWS:
            return torch.addmm(self.bias, enough(inputs), self.weight)[: len(inputs)]
        room = None if out is None else out[: len(inputs)]
        return torch.addmm(self.bias, inputs, self.weight, out=room)

    def onto(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """Added to rows, in place."""
        if len(rows) < ENOUGH_ROWS:
            sums = enough(rows).addmm_(enough(inputs), self.weight)[: len(rows)]
            return rows.copy_(sums).add_(self.bias)
        return rows.addmm_(inputs, self.weight).add_(self.bias)


def _gelu_tanh(states: Tensor) -> Tensor:
    """0.5 x (1 + tanh u) = x sigmoid(2u), which takes half the time on a CPU."""
    factor = 2 * sqrt(2 / pi)
    for rows in torch.split(states, ROWS // 4):
        rows.mul_((rows * rows).mul_(factor * 0.044715).add_(factor).mul_(rows).sigmoid_())
    return states


def in_place(activation: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The activation written over its input, recognised by what it computes."""
    probe = torch.linspace(-8, 8, 1001)
    for known in (torch.ops.aten.gelu_, _gelu_tanh, torch.relu_):
        if torch.allclose(known(probe.clone()), activation(probe.clone()), rtol=0, atol=5e-6):
            return known
    return activation


def even_parts(rows: int) -> Iterator[slice]:
    """A small rest would be slow."""
    step = ceil(rows / ceil(rows / ROWS))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def workspace(states: Tensor, width: int) -> Tensor:
    """Room for the widest states of one part."""
    return states.new_empty(min(ROWS, max(ENOUGH_ROWS, len(states))), width)


def attention(
    projected: Sequence[Tensor], count: int, heads: int, mask: Tensor | None = None
) -> Tensor:
    """Of `count` texts of one length, tokens in a row; the mask is added."""
    query, key, value = (
        states.view(count, -1, heads, states.shape[-1] // heads).transpose(1, 2)
        for states in projected
    )
    mixed = functional.scaled_dot_product_attention(query, key, value, mask)
    return mixed.transpose(1, 2).reshape(-1, heads * mixed.shape[-1])


def has_parts(layers: Any, names: str) -> bool:
    return all(layer.get_submodule(name) is not None for layer in layers for name in names.split())


# ------------------------------------------------------------------------------------- BERT's build

ASKED = 512
"""Asked places that go through the last layer at once."""
ENCODER_LAYER = """attention.self.query attention.self.key attention.self.value
attention.output.dense attention.output.LayerNorm intermediate.dense output.dense
output.LayerNorm"""
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
            and has_parts(trunk.encoder.layer, ENCODER_LAYER)
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
        self.layers = [_EncoderLayer(layer, heads) for layer in trunk.encoder.layer]

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


class _EncoderLayer:
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

    def attend(self, projected: list[Tensor], layout: Sequence[TextBlock]) -> Tensor:
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

    def at(self, states: Tensor, layout: Sequence[TextBlock], spots: Spots, wide: Tensor) -> Tensor:
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
        self, states: Tensor, layout: Sequence[TextBlock], spots: Spots, probes: Tensor
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


# ------------------------------------------------------------------------------------ GPT-2's build

DECODER_LAYER = "ln_1 attn.c_attn attn.c_proj ln_2 mlp.c_fc mlp.c_proj mlp.act"


def is_pre_norm_decoder(trunk: Any) -> bool:
    """Embeddings of words and positions; norms before attention, whose projections are one."""
    try:
        return has_parts(trunk.h, DECODER_LAYER) and all(
            hasattr(trunk, name) for name in ("wte", "wpe", "ln_f")
        )
    except AttributeError:
        return False


class PreNormDecoder:
    def __init__(self, trunk: Any) -> None:
        self.words, self.positions, self.norm = trunk.wte, trunk.wpe, trunk.ln_f
        heads = int(trunk.config.num_attention_heads)
        self.layers = [_DecoderLayer(layer, heads) for layer in trunk.h]

    def __call__(self, tree: Tree, asked: Sequence[int]) -> Tensor:
        """States at the asked nodes."""
        paths = paths_of(tree)
        table, place = self._embedded(tree)
        states, projected = table[place], self.layers[0].projections(table)[place]
        wide = workspace(states, self.layers[0].wide.weight.shape[1])
        for number, layer in enumerate(self.layers):
            if number:
                projected = layer.projections(states)
            mixed = layer.attend(projected, paths)
            if layer is self.layers[-1]:
                wanted = torch.tensor(asked)
                states, mixed = states[wanted], mixed[wanted]
            layer.finish(states, mixed, wide)
        normed: Tensor = self.norm(states)
        return normed

    def _embedded(self, tree: Tree) -> tuple[Tensor, Tensor]:
        """Embeddings of each distinct (token, depth), and which of them each node has."""
        depths = torch.tensor(tree.depths)
        deepest = int(depths.max()) + 1
        numbered = torch.tensor(tree.tokens) * deepest + depths
        distinct, place = torch.unique(numbered, return_inverse=True)
        return self.words(distinct // deepest) + self.positions(distinct % deepest), place


class _DecoderLayer:
    def __init__(self, layer: Any, heads: int) -> None:
        self.heads = heads
        self.before_attention, self.before_wide = layer.ln_1, layer.ln_2
        self.project, self.joined = Affine(layer.attn.c_attn), Affine(layer.attn.c_proj)
        self.wide, self.narrow = Affine(layer.mlp.c_fc), Affine(layer.mlp.c_proj)
        self.activation = in_place(layer.mlp.act)

    def projections(self, states: Tensor) -> Tensor:
        return self.project(self.before_attention(states))

    def attend(self, projected: Tensor, paths: Sequence[Paths]) -> Tensor:
        width = projected.shape[1] // 3
        mixed = projected.new_empty(len(projected), width)
        for texts in paths:
            queries = taken(projected[:, :width], texts.asking)
            others = taken(projected[:, width:], texts.through).chunk(2, dim=1)
            attended = attention((queries, *others), texts.count, self.heads, texts.before)
            put(mixed, texts.nodes, taken(attended, texts.places))
        return mixed

    def finish(self, states: Tensor, mixed: Tensor, wide: Tensor) -> None:
        """What comes after attention, added to the states."""
        for part in even_parts(len(states)):
            rows = self.joined.onto(states[part], mixed[part])
            self.narrow.onto(rows, self.activation(self.wide(self.before_wide(rows), wide)))
