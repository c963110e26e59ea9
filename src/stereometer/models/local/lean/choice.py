"""The fastest trunk and head that a model's structure allows, if they agree with the model."""

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from stereometer.models.local.batches import Tree
from stereometer.models.local.forward import (
    SplitModel,
    Targets,
    Texts,
    enough,
    flat,
    like,
    logprobs,
    replaced_forward,
)
from stereometer.models.local.lean.packed import blocks
from stereometer.models.local.lean.twin import Twin
from stereometer.models.local.lean.written_out import (
    PostNormEncoder,
    PreNormDecoder,
    Spots,
    even_parts,
    is_post_norm_encoder,
    is_pre_norm_decoder,
)

LOG = logging.getLogger("stereometer")
TOLERANCE = 2e-5
"""On hidden states and log-probabilities, as a share of the largest where that is above one."""
FEW = 3
"""Texts of the first batch that are compared with the generic path."""

Trunk = Callable[[Texts, "Texts | None", Spots], Tensor]
Decoder = Callable[[Tree, Sequence[int]], Tensor]
Head = Callable[[Tensor, Targets], "list[list[float]]"]


def trunk_for(split: SplitModel) -> Trunk:
    """The fastest trunk that this model's structure allows."""
    generic, lean = partial(generic_states, split), _encoder(split)
    return generic if lean is None else Fallback(lean, generic, _few_texts)


def _encoder(split: SplitModel) -> Trunk | None:
    if not _is_plain(split):
        return None
    if is_post_norm_encoder(split.inner):
        try:
            return PostNormEncoder(split.inner)
        except (AttributeError, TypeError) as problem:  # a structure that only looked familiar
            LOG.info("no lean trunk: %s", problem)
    twin = _twin(split)
    return None if twin is None else twin.texts


def head_for(split: SplitModel) -> Head:
    """The fastest head that this model's structure allows."""
    generic = partial(logprobs, split)
    last = split.model.get_output_embeddings()
    if not _is_plain(split) or not isinstance(last, torch.nn.Linear) or not split.ends_with(last):
        return generic
    return Fallback(
        SlicedHead(split, last), generic, lambda *inputs: [part[:FEW] for part in inputs]
    )


def decoders_for(split: SplitModel) -> Iterator[Decoder]:
    """Trunks for tries, fastest first; who uses them compares them with texts alone."""
    if not _is_plain(split):
        return
    if is_pre_norm_decoder(split.inner):
        yield PreNormDecoder(split.inner)
    twin = _twin(split)
    if twin is not None:
        yield twin.tree


def _twin(split: SplitModel) -> Twin | None:
    try:
        return Twin(split)
    except Exception as problem:  # a trunk of an unknown build, or one that cannot be copied
        LOG.info("texts cannot be packed: %s", problem)
        return None


def _is_plain(split: SplitModel) -> bool:
    return not split.whole and split.dtype == torch.float32 and split.device.type == "cpu"


def generic_states(split: SplitModel, ids: Texts, segments: Texts | None, spots: Spots) -> Tensor:
    """By the model unchanged, texts of one length at a time."""
    rows = []
    for block in blocks(ids):
        texts = slice(block.text, block.text + block.count)
        parts = segments[texts] if segments is not None else None
        states = split.trunk(**split.inputs(ids[texts], parts))
        rows += [states[text - block.text, at] for text, at in spots if text in block.texts]
    return torch.stack(rows)


class Fallback:
    """A lean computation that steps aside where it disagrees with the generic one.

    They are compared on a few texts of the first batch of each form, and of longer texts.
    """

    def __init__(
        self, lean: Callable[..., Any], generic: Callable[..., Any], sample: Callable[..., Any]
    ) -> None:
        self.lean: Callable[..., Any] | None = lean
        self.generic = generic
        self.sample = sample
        self.checked: dict[tuple[bool, ...], int] = {}
        """The longest text that each form was checked with."""

    def __call__(self, *inputs: Any) -> Any:
        form = tuple(part is None for part in inputs)
        longest = 1 if isinstance(inputs[0], Tensor) else max(map(len, inputs[0]))
        if self.lean is not None and longest > self.checked.get(form, 0):
            self._check(*self.sample(*inputs))
            self.checked[form] = longest
        return (self.lean or self.generic)(*inputs)

    def _check(self, *inputs: Any) -> None:
        assert self.lean is not None
        expected = _numbers(self.generic(*inputs))
        name = getattr(self.lean, "__qualname__", type(self.lean).__name__)
        try:
            error = float((_numbers(self.lean(*inputs)) - expected).abs().max())
        except Exception as problem:  # a structure that only looked familiar
            error = float("inf")
            LOG.info("%s failed: %s", name, problem)
        if not error < TOLERANCE * max(1.0, float(expected.abs().max())):
            LOG.info("%s differs by %.2g; the generic path is used", name, error)
            self.lean = None


def _numbers(values: Tensor | list[list[float]]) -> Tensor:
    return values if isinstance(values, Tensor) else torch.tensor(list(chain.from_iterable(values)))


def _few_texts(
    ids: Texts, segments: Texts | None, spots: Spots
) -> tuple[Texts, Texts | None, Spots]:
    """Texts with something asked, from the first to the last: of several lengths if there are."""
    asked = sorted({text for text, _ in spots})
    chosen = sorted({asked[number * (len(asked) - 1) // (FEW - 1)] for number in range(FEW)})
    place = {text: number for number, text in enumerate(chosen)}
    return (
        [ids[text] for text in chosen],
        [segments[text] for text in chosen] if segments is not None else None,
        [(place[text], at) for text, at in spots if text in place],
    )


# -------------------------------------------------- log-probabilities from slices of the vocabulary

COLUMNS = 2048
"""Of the vocabulary, whose logits are made at once: matrix products are slower at odd sizes."""


class SlicedHead:
    """The logits of all rows are never in memory together."""

    def __init__(self, split: SplitModel, last: torch.nn.Linear) -> None:
        self.split = split
        self.last = last

    def __call__(self, rows: Tensor, targets: Targets) -> list[list[float]]:
        with replaced_forward(self.last, lambda states: states):  # what the head hands to it
            states = self.split.head(enough(rows))
        where, which = flat(targets)
        picked = torch.linalg.vecdot(states[where], self.last.weight[which]).double()
        if self.last.bias is not None:
            picked += self.last.bias[which]
        masses = torch.cat([self._masses(states[part]) for part in even_parts(len(states))])
        return like(targets, picked - masses[where])

    def _masses(self, rows: Tensor) -> Tensor:
        """The log of the sum of all exponentials of each row's logits."""
        masses = []
        for start in range(0, len(self.last.weight), COLUMNS):
            columns = slice(start, start + COLUMNS)
            bias = None if self.last.bias is None else self.last.bias[columns]
            logits = functional.linear(rows, self.last.weight[columns], bias)
            masses.append(_mass(logits))
        return _mass(torch.stack(masses, -1))


def _mass(logits: Tensor) -> Tensor:
    """Written over: half the memory. torch.logsumexp is slower, and the last bit of its numbers
    depends on the rows beside them."""
    first = logits[:, 0].to(torch.float64, copy=True)
    return first - torch.log_softmax(logits, -1, out=logits)[:, 0].double()
