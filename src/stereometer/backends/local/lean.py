"""Faster trunks and heads for structures that are recognised, checked against the generic ones on the first batch.

Everything here is exact, does less and touches less memory:

* linear layers run over the tokens of all texts of a batch at once, whatever their lengths; only attention is by length;
* the first layer's projections depend on (token, position) alone, which masked copies and candidates mostly share;
* the last layer is computed only where something is asked, and its keys and values are never made;
* texts that begin alike share the nodes of a trie: linear layers run over nodes, attention over the paths through them;
* the head runs over slices of the vocabulary that stay in the processor's cache.

`PostNormEncoder` is BERT's build (BERT, RoBERTa, XLM-R, ELECTRA ...), `PreNormDecoder` GPT-2's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, groupby
from math import ceil, pi, sqrt
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from stereometer.backends.local.forward import Split, Targets, logprobs
from stereometer.backends.local.trie import Tree

LOG = logging.getLogger("stereometer")
TOLERANCE = 2e-5
"""On hidden states and log-probabilities, as a share of the largest where that is above one."""
ROWS = 1024
"""Tokens that go through a feed-forward layer at once: its widest state then stays in the processor's cache."""
ASKED = 512
"""Asked places that go through the last layer at once."""
COLUMNS = 2048
"""Of the vocabulary, whose logits are made at once: a round number, because matrix products are slower at others."""
FEW = 3
"""Texts of the first batch that are compared with the generic path."""

Texts = Sequence[Sequence[int]]
"""Token ids (or segments) of some texts, of any lengths."""
Spots = Sequence[tuple[int, int]]
"""(number of the text, position) of each asked place, in the order of the texts."""
Trunk = Callable[[Texts, "Texts | None", Spots], Tensor]
Head = Callable[[Tensor, Targets], "list[list[float]]"]


def trunk_for(split: Split) -> Trunk:
    """The fastest trunk that this model's structure allows."""
    generic = Generic(split)
    if not _is_plain(split) or not is_post_norm_encoder(split.inner):
        return generic
    try:
        return Checked(PostNormEncoder(split.inner), generic, _few_texts)
    except (AttributeError, TypeError) as problem:  # a structure that only looked familiar
        LOG.info("no lean trunk: %s", problem)
        return generic


def head_for(split: Split) -> Head:
    """The fastest head that this model's structure allows."""

    def generic(rows: Tensor, targets: Targets) -> list[list[float]]:
        return logprobs(split, rows, targets)

    last = split.model.get_output_embeddings()
    if not _is_plain(split) or not isinstance(last, torch.nn.Linear) or not split.ends_with(last):
        return generic
    return Checked(
        SlicedHead(split, last), generic, lambda rows, targets: (rows[:FEW], targets[:FEW])
    )


def decoder_for(split: Split) -> PreNormDecoder | None:
    """A trunk for tries, where the structure is recognised; who uses it compares it with texts one by one."""
    return (
        PreNormDecoder(split.inner)
        if _is_plain(split) and is_pre_norm_decoder(split.inner)
        else None
    )


def _is_plain(split: Split) -> bool:
    parameter = next(split.model.parameters())
    return bool(
        not split.whole and parameter.dtype == torch.float32 and parameter.device.type == "cpu"
    )


# ---------------------------------------------------------------------------- the generic trunk, and the check


class Generic:
    """The model as it is, texts of one length at a time."""

    def __init__(self, split: Split) -> None:
        self.split = split
        self.takes = split.takes

    def __call__(self, ids: Texts, segments: Texts | None, spots: Spots) -> Tensor:
        found = []
        for block in blocks(ids):
            some = slice(block.text, block.text + block.count)
            states = self._states(ids[some], segments[some] if segments is not None else None)
            here = torch.tensor(
                [
                    (text - block.text, position)
                    for text, position in spots
                    if some.start <= text < some.stop
                ]
            )
            if len(here):
                found.append(states[here[:, 0], here[:, 1]])
        return torch.cat(found)

    def _states(self, ids: Texts, segments: Texts | None) -> Tensor:
        tokens = torch.tensor([list(text) for text in ids], device=self.split.device)
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        if segments is not None and "token_type_ids" in self.takes:
            inputs["token_type_ids"] = torch.tensor(
                [list(text) for text in segments], device=self.split.device
            )
        return self.split.trunk(**inputs)


class Checked:
    """A lean computation that has to agree with the generic one on some of the first batch of each form, and steps aside if it does not."""

    def __init__(
        self,
        lean: Callable[..., Any],
        generic: Callable[..., Any],
        sample: Callable[..., tuple[Any, ...]],
    ) -> None:
        self.lean: Callable[..., Any] | None = lean
        self.generic = generic
        self.sample = sample
        self.checked: dict[tuple[bool, ...], int] = {}
        """The longest text that each form was checked with."""

    def __call__(self, *inputs: Any) -> Any:
        form = tuple(one is None for one in inputs)
        longest = 1 if isinstance(inputs[0], Tensor) else max(map(len, inputs[0]))
        if self.lean is not None and longest > self.checked.get(form, 0):
            self._check(*self.sample(*inputs))
            self.checked[form] = longest
        return (self.lean or self.generic)(*inputs)

    def _check(self, *inputs: Any) -> None:
        assert self.lean is not None
        expected = _numbers(self.generic(*inputs))
        try:
            error = float((_numbers(self.lean(*inputs)) - expected).abs().max())
        except Exception as problem:  # a structure that only looked familiar
            error = float("inf")
            LOG.info("%s failed: %s", type(self.lean).__name__, problem)
        if not error < TOLERANCE * max(1.0, float(expected.abs().max())):
            LOG.info(
                "%s differs by %.2g; the generic path is used", type(self.lean).__name__, error
            )
            self.lean = None


def _numbers(found: Tensor | list[list[float]]) -> Tensor:
    return found if isinstance(found, Tensor) else torch.tensor(list(chain.from_iterable(found)))


def _few_texts(
    ids: Texts, segments: Texts | None, spots: Spots
) -> tuple[Texts, Texts | None, Spots]:
    """Some texts with something asked, from the first to the last: of several lengths where there are several."""
    asked = sorted({text for text, _ in spots})
    chosen = {asked[number * (len(asked) - 1) // (FEW - 1)] for number in range(FEW)}
    place = {text: number for number, text in enumerate(sorted(chosen))}
    some = [ids[text] for text in place]
    return (
        some,
        [segments[text] for text in place] if segments is not None else None,
        [(place[t], p) for t, p in spots if t in place],
    )


# ------------------------------------------------------------------------------------------------------ parts


class Affine:
    """x W + b, written where it is wanted."""

    def __init__(self, module: Any) -> None:
        self.weight: Tensor = (
            module.weight.t() if isinstance(module, torch.nn.Linear) else module.weight
        )
        self.bias: Tensor = module.bias

    def __call__(self, inputs: Tensor, out: Tensor | None = None) -> Tensor:
        return torch.addmm(
            self.bias, inputs, self.weight, out=None if out is None else out[: len(inputs)]
        )

    def onto(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """Added to rows, in place."""
        return rows.addmm_(inputs, self.weight).add_(self.bias)


def _gelu(states: Tensor) -> Tensor:
    found: Tensor = torch.ops.aten.gelu_(states)
    return found


def _gelu_tanh(states: Tensor) -> Tensor:
    """0.5 x (1 + tanh u) = x sigmoid(2u), which takes half the time on a CPU."""
    factor = 2 * sqrt(2 / pi)
    for start in range(0, len(states), ROWS // 4):
        rows = states[start : start + ROWS // 4]
        rows.mul_((rows * rows).mul_(factor * 0.044715).add_(factor).mul_(rows).sigmoid_())
    return states


def in_place(activation: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The same activation written over its input, recognised by what it computes."""
    probe = torch.linspace(-8, 8, 1001)
    for known in (_gelu, _gelu_tanh, torch.relu_):
        if torch.allclose(known(probe.clone()), activation(probe.clone()), rtol=0, atol=5e-6):
            return known
    return activation


@dataclass(frozen=True)
class Block:
    """Consecutive texts of one length in a row of tokens."""

    text: int
    token: int
    count: int
    length: int

    @property
    def tokens(self) -> slice:
        return slice(self.token, self.token + self.count * self.length)


def blocks(ids: Texts) -> Iterator[Block]:
    text = token = 0
    for length, some in groupby(ids, len):
        count = len(list(some))
        yield Block(text, token, count, length)
        text, token = text + count, token + count * length


def _parts(rows: int) -> Iterator[slice]:
    """Even parts: a small rest would be slow."""
    step = ceil(rows / ceil(rows / ROWS))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def _attention(projected: Sequence[Tensor], count: int, heads: int, causal: bool = False) -> Tensor:
    """Of `count` texts of one length, tokens in a row."""
    query, key, value = (
        one.view(count, -1, heads, one.shape[-1] // heads).transpose(1, 2) for one in projected
    )
    mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=causal)
    return mixed.transpose(1, 2).reshape(-1, heads * mixed.shape[-1])


# ---------------------------------------------------------------------------------------------------- encoders


def is_post_norm_encoder(trunk: Any) -> bool:
    """Embeddings of words, positions and segments under one norm, then layers that normalise after adding."""
    parts = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
             "intermediate.dense", "output.dense", "output.LayerNorm")  # fmt: skip
    tables = ("word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm")
    try:
        return (
            _sees_all(trunk)
            and _has(trunk.encoder.layer, parts)
            and all(hasattr(trunk.embeddings, name) for name in tables)
        )
    except AttributeError:
        return False


def _sees_all(trunk: Any) -> bool:
    """Whether every token sees every other: no window, no blocks."""
    return (
        not hasattr(trunk.config, "attention_window")
        and getattr(trunk.config, "attention_type", "original_full") == "original_full"
    )


def _has(layers: Any, parts: Sequence[str]) -> bool:
    return all(layer.get_submodule(part) is not None for layer in layers for part in parts)


class PostNormEncoder:
    """BERT's build."""

    def __init__(self, trunk: Any) -> None:
        self.embeddings = trunk.embeddings
        self.padding: int | None = getattr(
            trunk.embeddings.position_embeddings, "padding_idx", None
        )
        self.project = getattr(trunk, "embeddings_project", None)
        self.layers = [
            _EncoderLayer(layer, int(trunk.config.num_attention_heads))
            for layer in trunk.encoder.layer
        ]

    def __call__(self, ids: Texts, segments: Texts | None, spots: Spots) -> Tensor:
        layout = list(blocks(ids))
        table, place = self._embedded(ids, segments)
        states, projected = table[place], [one[place] for one in self.layers[0].projections(table)]
        wide = states.new_empty(min(ROWS, len(states)), self.layers[0].wide.weight.shape[1])
        for number, layer in enumerate(self.layers[:-1]):
            if number:
                projected = layer.projections(states)
            layer.finish(states, layer.attend(projected, layout), wide)
        last = self.layers[-1]
        return torch.cat(
            [
                last.at(states, layout, spots[start : start + ASKED], wide)
                for start in range(0, len(spots), ASKED)
            ]
        )

    def _embedded(self, ids: Texts, segments: Texts | None) -> tuple[Tensor, Tensor]:
        """Embeddings of each distinct (token, position, segment), and which of them each token has."""
        tokens = torch.tensor(list(chain.from_iterable(ids)))
        positions = torch.tensor(list(chain.from_iterable(map(self._positions, ids))))
        kinds = (
            torch.tensor(list(chain.from_iterable(segments)))
            if segments is not None
            else torch.zeros_like(tokens)
        )
        places = int(positions.max()) + 1
        distinct, place = torch.unique(
            (tokens * places + positions) * 2 + kinds, return_inverse=True
        )
        kind, rest = distinct % 2, distinct // 2
        table = self.embeddings.word_embeddings(
            rest // places
        ) + self.embeddings.token_type_embeddings(kind)
        table = self.embeddings.LayerNorm(
            table + self.embeddings.position_embeddings(rest % places)
        )
        return (table if self.project is None else self.project(table)), place

    def _positions(self, text: Sequence[int]) -> Iterable[int]:
        """Where each token stands: positions may begin after that of padding, and a text may name the padding token."""
        if self.padding is None:
            return range(len(text))
        if self.padding not in text:
            return range(self.padding + 1, self.padding + 1 + len(text))
        real = list(accumulate(token != self.padding for token in text))
        return [
            self.padding + (count if token != self.padding else 0)
            for token, count in zip(text, real, strict=True)
        ]


class _EncoderLayer:
    def __init__(self, layer: Any, heads: int) -> None:
        attention = layer.attention.self
        self.heads = heads
        self.query, self.key, self.value = (
            Affine(attention.query),
            Affine(attention.key),
            Affine(attention.value),
        )
        self.joined, self.attention_norm = (
            Affine(layer.attention.output.dense),
            layer.attention.output.LayerNorm,
        )
        self.wide, self.activation = (
            Affine(layer.intermediate.dense),
            in_place(layer.intermediate.intermediate_act_fn),
        )
        self.narrow, self.output_norm = Affine(layer.output.dense), layer.output.LayerNorm

    def projections(self, states: Tensor) -> list[Tensor]:
        return [self.query(states), self.key(states), self.value(states)]

    def attend(self, projected: list[Tensor], layout: Sequence[Block]) -> Tensor:
        mixed = torch.empty_like(projected[0])
        for block in layout:
            mixed[block.tokens] = _attention(
                [one[block.tokens] for one in projected], block.count, self.heads
            )
        return mixed

    def finish(self, states: Tensor, mixed: Tensor, wide: Tensor) -> None:
        """What comes after attention, written over the states."""
        for part in _parts(len(states)):
            rows = self.attention_norm(self.joined.onto(states[part], mixed[part]))
            hidden = self.activation(self.wide(rows, wide))
            states[part] = self.output_norm(self.narrow.onto(rows, hidden))

    def at(self, states: Tensor, layout: Sequence[Block], spots: Spots, wide: Tensor) -> Tensor:
        """This layer's output at the asked places only.

        Keys and values of all tokens are never made: q.(h K) = (q K').h moves the key's matrix to the few queries, and
        sum(a (h V)) = sum(a h) V moves the value's behind the sum. The key's bias adds the same to all scores of a row.
        """
        tokens = {
            block.text + number: block.token + number * block.length
            for block in layout
            for number in range(block.count)
        }
        rows = states[torch.tensor([tokens[text] + position for text, position in spots])]
        per_head = rows.shape[1] // self.heads
        query = self.query(rows).view(len(spots), self.heads, per_head).transpose(0, 1) / sqrt(
            per_head
        )
        probes = torch.bmm(query, self.key.weight.t().view(self.heads, per_head, -1)).transpose(
            0, 1
        )
        seen = torch.cat(list(self._seen(states, layout, spots, probes)))
        mixed = torch.bmm(
            seen.transpose(0, 1),
            self.value.weight.t().view(self.heads, per_head, -1).transpose(1, 2),
        )
        self.finish(rows, mixed.transpose(0, 1).reshape(len(spots), -1) + self.value.bias, wide)
        return rows

    def _seen(
        self, states: Tensor, layout: Sequence[Block], spots: Spots, probes: Tensor
    ) -> Iterator[Tensor]:
        """For each spot and head the mean of its text's states, weighted by attention."""
        start = 0
        for block in layout:
            texts = torch.tensor(
                [
                    text - block.text
                    for text, _ in spots
                    if block.text <= text < block.text + block.count
                ]
            )
            some = (
                states[block.tokens].view(block.count, block.length, -1)[texts]
                if len(texts)
                else states[:0, None]
            )
            weights = torch.bmm(probes[start : start + len(texts)], some.transpose(1, 2)).softmax(
                -1
            )
            yield torch.bmm(weights, some)
            start += len(texts)


# ---------------------------------------------------------------------------------------------------- decoders


def is_pre_norm_decoder(trunk: Any) -> bool:
    """Embeddings of words and positions, then layers that normalise before attention (one matrix for all three projections)."""
    parts = ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj", "mlp.act")
    try:
        return _has(trunk.h, parts) and all(hasattr(trunk, name) for name in ("wte", "wpe", "ln_f"))
    except AttributeError:
        return False


@dataclass(frozen=True)
class Paths:
    """Texts of one length: the nodes they go through, and where each node's result is taken from."""

    through: Tensor
    count: int
    nodes: Tensor
    places: Tensor


def paths_of(tree: Tree) -> list[Paths]:
    """The texts of a tree by length; a node that several go through is taken from the one that brought it."""
    found = []
    for length, some in groupby(
        sorted(tree.lines, key=lambda line: len(line.nodes)), lambda line: len(line.nodes)
    ):
        lines = list(some)
        owned = [
            (node, row * length + at)
            for row, line in enumerate(lines)
            for at, node in enumerate(line.nodes)
            if at >= line.shared
        ]
        through = torch.tensor([node for line in lines for node in line.nodes])
        found.append(
            Paths(
                through,
                len(lines),
                torch.tensor([node for node, _ in owned]),
                torch.tensor([place for _, place in owned]),
            )
        )
    return found


class PreNormDecoder:
    """GPT-2's build."""

    def __init__(self, trunk: Any) -> None:
        self.words, self.positions, self.norm = trunk.wte, trunk.wpe, trunk.ln_f
        self.layers = [
            _DecoderLayer(layer, int(trunk.config.num_attention_heads)) for layer in trunk.h
        ]

    def __call__(self, tree: Tree, asked: Sequence[int]) -> Tensor:
        """States at the asked nodes."""
        paths = paths_of(tree)
        table, place = self._embedded(tree)
        states, projected = table[place], self.layers[0].projections(table)[place]
        wide = states.new_empty(min(ROWS, len(states)), self.layers[0].wide.weight.shape[1])
        for number, layer in enumerate(self.layers):
            if number:
                projected = layer.projections(states)
            mixed = layer.attend(projected, paths)
            if layer is self.layers[-1]:
                wanted = torch.tensor(asked)
                states, mixed = states[wanted], mixed[wanted]
            layer.finish(states, mixed, wide)
        found: Tensor = self.norm(states)
        return found

    def _embedded(self, tree: Tree) -> tuple[Tensor, Tensor]:
        """Embeddings of each distinct (token, depth), and which of them each node has."""
        depths = torch.tensor(tree.depths)
        deepest = int(depths.max()) + 1
        distinct, place = torch.unique(
            torch.tensor(tree.tokens) * deepest + depths, return_inverse=True
        )
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
        mixed = projected.new_empty(len(projected), projected.shape[1] // 3)
        for some in paths:
            mixed[some.nodes] = _attention(
                projected[some.through].chunk(3, dim=1), some.count, self.heads, causal=True
            )[some.places]
        return mixed

    def finish(self, states: Tensor, mixed: Tensor, wide: Tensor) -> None:
        """What comes after attention, added to the states."""
        for part in _parts(len(states)):
            rows = self.joined.onto(states[part], mixed[part])
            self.narrow.onto(rows, self.activation(self.wide(self.before_wide(rows), wide)))


# ------------------------------------------------------------------------------------------------------- heads


class SlicedHead:
    """Log-probabilities from slices of the vocabulary: the logits of all rows are never in memory together."""

    def __init__(self, split: Split, last: torch.nn.Linear) -> None:
        self.split = split
        self.last = last

    def __call__(self, rows: Tensor, targets: Targets) -> list[list[float]]:
        states = self.split.inputs_of(self.last, rows)
        mass = self._mass(states)
        where = torch.tensor([index for index, tokens in enumerate(targets) for _ in tokens])
        which = torch.tensor([token for tokens in targets for token in tokens])
        picked = torch.linalg.vecdot(states[where], self.last.weight[which]).double()
        if self.last.bias is not None:
            picked += self.last.bias[which]
        values = iter((picked - mass[where]).tolist())
        return [[next(values) for _ in tokens] for tokens in targets]

    def _mass(self, states: Tensor) -> Tensor:
        """The log of the sum of all exponentials of each row's logits."""
        logits = states.new_empty(min(ROWS, len(states)) * COLUMNS)
        return torch.cat([self._mass_of(states[part], logits) for part in _parts(len(states))])

    def _mass_of(self, rows: Tensor, logits: Tensor) -> Tensor:
        masses = []
        for start in range(0, len(self.last.weight), COLUMNS):
            weight = self.last.weight[start : start + COLUMNS]
            some = torch.mm(
                rows, weight.t(), out=logits[: len(rows) * len(weight)].view(len(rows), len(weight))
            )
            if self.last.bias is not None:
                some += self.last.bias[start : start + COLUMNS]
            first = some[:, 0].double()
            # Written over its input: half the memory, and torch.logsumexp is slower.
            masses.append(first - torch.log_softmax(some, -1, out=some)[:, 0].double())
        return torch.stack(masses).logsumexp(0)
