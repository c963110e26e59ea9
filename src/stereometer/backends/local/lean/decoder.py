"""A lean trunk for GPT-2's build, over texts that share the nodes of a trie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from stereometer.backends.local.lean.packed import Paths, paths_of, put, taken
from stereometer.backends.local.lean.parts import (
    Affine,
    attention,
    even_parts,
    has_parts,
    in_place,
    workspace,
)
from stereometer.backends.local.trie import Tree

LAYER = "ln_1 attn.c_attn attn.c_proj ln_2 mlp.c_fc mlp.c_proj mlp.act"


def is_pre_norm_decoder(trunk: Any) -> bool:
    """Embeddings of words and positions, then layers that normalise before attention, with one
    matrix for all three projections."""
    try:
        return has_parts(trunk.h, LAYER) and all(
            hasattr(trunk, name) for name in ("wte", "wpe", "ln_f")
        )
    except AttributeError:
        return False


class PreNormDecoder:
    def __init__(self, trunk: Any) -> None:
        self.words, self.positions, self.norm = trunk.wte, trunk.wpe, trunk.ln_f
        heads = int(trunk.config.num_attention_heads)
        self.layers = [_Layer(layer, heads) for layer in trunk.h]

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


class _Layer:
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
