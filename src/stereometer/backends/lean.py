"""Faster trunks for structures that are recognised, checked against the generic one on the first batch.

A trunk gives the hidden states at the asked places of a batch of equally long texts. The generic trunk runs the model
and takes the rows. The lean one is for post-norm encoders of BERT's build (BERT, RoBERTa, XLM-R, ELECTRA ...): exact, with
two savings. The first layer's queries, keys and values depend on (token, position, segment) alone, and masked copies of
one sentence share nearly all of those; the last layer is computed only for the rows that are asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

LOG = logging.getLogger("stereometer")
TOLERANCE = 2e-4
"""On hidden states, which are of order one; log-probabilities then agree to about a tenth of it."""

Spots = Sequence[tuple[int, int]]
"""(row of the batch, position) of each asked place."""
Trunk = Callable[[Tensor, "Tensor | None", Spots], Tensor]


def trunk_for(model: Any) -> Trunk:
    """The fastest trunk that this model's structure allows."""
    generic = Generic(model)
    if next(model.parameters()).dtype != torch.float32 or not is_post_norm_encoder(model.base_model):
        return generic
    return Checked(PostNormEncoder(model.base_model), generic)


class Generic:
    """The model as it is."""

    def __init__(self, model: Any) -> None:
        import inspect

        self.trunk = model.base_model
        self.told = set(inspect.signature(self.trunk.forward).parameters)

    def __call__(self, ids: Tensor, segments: Tensor | None, spots: Spots) -> Tensor:
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if segments is not None and "token_type_ids" in self.told:
            inputs["token_type_ids"] = segments
        states: Tensor = self.trunk(**inputs)[0]
        return states[_index(spots, 0), _index(spots, 1)]


def _index(spots: Spots, which: int) -> Tensor:
    return torch.tensor([spot[which] for spot in spots])


class Checked:
    """A lean trunk that has to agree with the generic one on its first batch, and steps aside if it does not."""

    def __init__(self, lean: Trunk, generic: Generic) -> None:
        self.lean: Trunk | None = lean
        self.generic = generic
        self.checked = False

    def __call__(self, ids: Tensor, segments: Tensor | None, spots: Spots) -> Tensor:
        if self.lean is None:
            return self.generic(ids, segments, spots)
        if self.checked:
            return self.lean(ids, segments, spots)
        expected = self.generic(ids, segments, spots)
        self.checked = True
        try:
            error = float((self.lean(ids, segments, spots) - expected).abs().max())
        except Exception as problem:  # a structure that only looked familiar
            error = float("inf")
            LOG.info("lean trunk failed: %s", problem)
        if not error < TOLERANCE * max(1.0, float(expected.abs().max())):
            LOG.info("lean trunk differs by %.2g; the generic one is used", error)
            self.lean = None
        return expected


def is_post_norm_encoder(trunk: Any) -> bool:
    """Embeddings of words, positions and segments under one norm, then layers that normalise after adding."""
    try:
        layers, embeddings = trunk.encoder.layer, trunk.embeddings
        for layer in layers:
            for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
                         "intermediate.dense", "output.dense", "output.LayerNorm"):  # fmt: skip
                layer.get_submodule(part)
        return all(hasattr(embeddings, name) for name in ("word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm"))
    except AttributeError:
        return False


class PostNormEncoder:
    """BERT's build, with fused projections."""

    def __init__(self, trunk: Any) -> None:
        self.embeddings = trunk.embeddings
        self.project = getattr(trunk, "embeddings_project", None)
        self.heads = int(trunk.config.num_attention_heads)
        self.layers = [_Layer(layer, self.heads) for layer in trunk.encoder.layer]

    def __call__(self, ids: Tensor, segments: Tensor | None, spots: Spots) -> Tensor:
        states, qkv = self._first(ids, segments)
        batch, length = ids.shape
        for layer in self.layers[:-1]:
            states = layer(states, layer.qkv(states) if qkv is None else qkv, batch, length)
            qkv = None
        return self.layers[-1].rows(states, qkv, batch, length, spots)

    def _first(self, ids: Tensor, segments: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Embeddings, and the first layer's projections, computed once for each distinct (token, position, segment)."""
        batch, length = ids.shape
        padding = getattr(self.embeddings.position_embeddings, "padding_idx", None)
        offset = 0 if padding is None else padding + 1
        positions = torch.arange(length, device=ids.device).expand(batch, length)
        kinds = segments if segments is not None else torch.zeros_like(ids)
        code = (ids * length + positions) * 2 + kinds
        distinct, place = torch.unique(code, return_inverse=True)
        kind, rest = distinct % 2, distinct // 2
        table = self.embeddings.word_embeddings(rest // length) + self.embeddings.token_type_embeddings(kind)
        table = self.embeddings.LayerNorm(table + self.embeddings.position_embeddings(rest % length + offset))
        if self.project is not None:
            table = self.project(table)
        place = place.reshape(-1)
        return table[place], (self.layers[0].qkv(table)[place] if len(self.layers) > 1 else None)


class _Layer:
    def __init__(self, layer: Any, heads: int) -> None:
        attention = layer.attention.self
        self.heads = heads
        self.weight = torch.cat([attention.query.weight, attention.key.weight, attention.value.weight])
        self.bias = torch.cat([attention.query.bias, attention.key.bias, attention.value.bias])
        self.joined, self.attention_norm = layer.attention.output.dense, layer.attention.output.LayerNorm
        self.wide, self.activation = layer.intermediate.dense, layer.intermediate.intermediate_act_fn
        self.narrow, self.output_norm = layer.output.dense, layer.output.LayerNorm

    def qkv(self, states: Tensor) -> Tensor:
        return functional.linear(states, self.weight, self.bias)

    def __call__(self, states: Tensor, qkv: Tensor, batch: int, length: int) -> Tensor:
        query, key, value = (one.transpose(1, 2) for one in qkv.view(batch, length, 3, self.heads, -1).unbind(2))
        mixed = functional.scaled_dot_product_attention(query, key, value)
        return self._after(mixed.transpose(1, 2).reshape(batch * length, -1), states)

    def rows(self, states: Tensor, qkv: Tensor | None, batch: int, length: int, spots: Spots) -> Tensor:
        """This layer's output at the asked places only: their queries against every key and value."""
        width = states.shape[-1]
        key_value = functional.linear(states, self.weight[width:], self.bias[width:]) if qkv is None else qkv[:, width:]
        key, value = (one.transpose(1, 2) for one in key_value.reshape(batch, length, 2, self.heads, -1).unbind(2))
        row, position = _index(spots, 0).to(states.device), _index(spots, 1).to(states.device)
        asked = states[row * length + position]
        query = functional.linear(asked, self.weight[:width], self.bias[:width]).view(len(spots), self.heads, 1, -1)
        if len(spots) != batch or not bool((row == torch.arange(batch, device=row.device)).all()):
            key, value = key[row], value[row]
        mixed = functional.scaled_dot_product_attention(query, key, value)
        return self._after(mixed.reshape(len(spots), width), asked)

    def _after(self, mixed: Tensor, states: Tensor) -> Tensor:
        states = self.attention_norm(self.joined(mixed) + states)
        hidden: Tensor = self.output_norm(self.narrow(self.activation(self.wide(states))) + states)
        return hidden
