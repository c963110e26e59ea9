"""The fastest trunk and head that a model's structure allows, if they agree with the model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from stereometer.backends.local.forward import Split, Targets, Texts, logprobs
from stereometer.backends.local.lean.decoder import PreNormDecoder, is_pre_norm_decoder
from stereometer.backends.local.lean.encoder import PostNormEncoder, Spots, is_post_norm_encoder
from stereometer.backends.local.lean.head import SlicedHead
from stereometer.backends.local.lean.parts import blocks
from stereometer.backends.local.lean.twin import Twin
from stereometer.backends.local.trie import Tree

LOG = logging.getLogger("stereometer")
TOLERANCE = 2e-5
"""On hidden states and log-probabilities, as a share of the largest where that is above one."""
FEW = 3
"""Texts of the first batch that are compared with the generic path."""

Trunk = Callable[[Texts, "Texts | None", Spots], Tensor]
Decoder = Callable[[Tree, Sequence[int]], Tensor]
Head = Callable[[Tensor, Targets], "list[list[float]]"]


def trunk_for(split: Split) -> Trunk:
    """The fastest trunk that this model's structure allows."""
    generic, lean = Generic(split), _encoder(split)
    return generic if lean is None else Checked(lean, generic, _few_texts)


def _encoder(split: Split) -> Trunk | None:
    if not _is_plain(split):
        return None
    if is_post_norm_encoder(split.inner):
        try:
            return PostNormEncoder(split.inner)
        except (AttributeError, TypeError) as problem:  # a structure that only looked familiar
            LOG.info("no lean trunk: %s", problem)
    twin = _twin(split)
    return None if twin is None else twin.texts


def head_for(split: Split) -> Head:
    """The fastest head that this model's structure allows."""
    generic = partial(logprobs, split)
    last = split.model.get_output_embeddings()
    if not _is_plain(split) or not isinstance(last, torch.nn.Linear) or not split.ends_with(last):
        return generic
    return Checked(
        SlicedHead(split, last), generic, lambda *inputs: [part[:FEW] for part in inputs]
    )


def decoders_for(split: Split) -> Iterator[Decoder]:
    """Trunks for tries, fastest first; who uses them compares them with texts alone."""
    if not _is_plain(split):
        return
    if is_pre_norm_decoder(split.inner):
        yield PreNormDecoder(split.inner)
    twin = _twin(split)
    if twin is not None:
        yield twin.tree


def _twin(split: Split) -> Twin | None:
    try:
        return Twin(split)
    except Exception as problem:  # a trunk of an unknown build, or one that cannot be copied
        LOG.info("texts cannot be packed: %s", problem)
        return None


def _is_plain(split: Split) -> bool:
    return not split.whole and split.dtype == torch.float32 and split.device.type == "cpu"


class Generic:
    """The model unchanged, texts of one length at a time."""

    def __init__(self, split: Split) -> None:
        self.split = split

    def __call__(self, ids: Texts, segments: Texts | None, spots: Spots) -> Tensor:
        rows = []
        for block in blocks(ids):
            texts = slice(block.text, block.text + block.count)
            parts = segments[texts] if segments is not None else None
            states = self.split.trunk(**self.split.inputs(ids[texts], parts))
            rows += [states[text - block.text, at] for text, at in spots if text in block.texts]
        return torch.stack(rows)


class Checked:
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
