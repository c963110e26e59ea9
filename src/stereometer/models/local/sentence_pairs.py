"""Two sentences read together, and a model's states of them: what a next-sentence head sees."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from stereometer.core.types import Skip
from stereometer.models.local.batches import each, equal_length, segments_of
from stereometer.models.local.forward import token_budget
from stereometer.models.local.language_model import LanguageModel

LONGEST = 256
"""Tokens of a pair, as in StereoSet's training."""
DEFAULT_POOLING = {"masked": "first", "permuted": "last", "causal": "mean"}
"""By family: where a model of that kind gathers what it knows of a text."""


@dataclass(frozen=True)
class PairTokens:
    """Two sentences as one sequence."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    first: tuple[int, ...]
    """Positions of the first sentence's tokens."""
    second: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


def read_pair(backend: LanguageModel, first: str, second: str) -> PairTokens:
    """As the model was taught to read two sentences; a causal model reads them as one text."""
    if not first.strip() or not second.strip():
        raise Skip("a sentence has no token")
    if backend.tokens.causal:
        encoding = backend.encode(f"{first} {second}")
        later: Sequence[bool] = [end > len(first) for _, end in encoding.offsets]
    else:
        encoding = backend.encode(first, second)
        later = encoding.second
    if len(encoding.ids) > LONGEST:
        raise Skip(f"longer than the {LONGEST} tokens of next-sentence heads")
    ordinary = [at for at, word in enumerate(encoding.words) if word is not None]
    parts = tuple(at for at in ordinary if not later[at]), tuple(at for at in ordinary if later[at])
    if not all(parts):
        raise Skip("a sentence has no token")
    return PairTokens(encoding.ids, encoding.segments, *parts)


def _parts(states: Tensor, pair: PairTokens) -> Tensor:
    """The mean of each sentence, their product and their distance."""
    first, second = states[list(pair.first)].mean(0), states[list(pair.second)].mean(0)
    return torch.cat([first, second, first * second, (first - second).abs()])


POOLINGS: Mapping[str, Callable[[Tensor, PairTokens], Tensor]] = {
    "first": lambda states, pair: states[0],
    "last": lambda states, pair: states[-1],
    "mean": lambda states, pair: states[[*pair.first, *pair.second]].mean(0),
    "parts": _parts,
}
"""From the states of a pair's tokens to one row."""


@dataclass(frozen=True)
class Numbered:
    """A pair and its place among others."""

    number: int
    pair: PairTokens

    @property
    def segments(self) -> tuple[int, ...]:
        return self.pair.segments

    def __len__(self) -> int:
        return len(self.pair)


@dataclass(frozen=True)
class Features:
    """A model's states of pairs, pooled."""

    backend: LanguageModel
    pooling: str
    layer: int
    """Whose output is pooled, from 1; 0 stands for the last, as the head of the model sees it."""
    trunk: Any = None
    """Another trunk than the model's own: one that was trained together with the head."""

    def batches(
        self, pairs: Sequence[PairTokens], budget: int | None = None
    ) -> Iterator[list[Numbered]]:
        """Pairs of one length at a time, so that no result depends on padding."""
        numbered = [Numbered(number, pair) for number, pair in enumerate(pairs)]
        return equal_length(numbered, budget or token_budget(self.backend.split))

    def rows(self, pairs: Sequence[PairTokens]) -> Tensor:
        """One row per pair, in their order."""
        rows: dict[int, Tensor] = {}
        with torch.inference_mode():
            for part in each(self.batches(pairs), lambda batch: (batch, self.pooled(batch))):
                rows |= {element.number: row for element, row in zip(*part, strict=True)}
        return torch.stack([rows[number] for number in range(len(pairs))])

    def pooled(self, batch: Sequence[Numbered]) -> Tensor:
        """One row per pair, of pairs of one length."""
        pairs = [element.pair for element in batch]
        pool = POOLINGS[self.pooling]
        return torch.stack([pool(*part) for part in zip(self.states(pairs), pairs, strict=True)])

    def states(self, pairs: Sequence[PairTokens]) -> Tensor:
        """Of pairs of one length."""
        inputs = self.backend.split.inputs([pair.ids for pair in pairs], segments_of(pairs))
        if not self.layer:
            states: Tensor = self._trunk(**inputs)[0]
        elif self._block is None:
            states = self._hidden(inputs)
        else:
            states = _until(self._block, self._trunk, inputs)
        return states[: len(pairs)]

    @property
    def _trunk(self) -> Any:
        return self.trunk if self.trunk is not None else self.backend.split.inner

    def _hidden(self, inputs: dict[str, Any]) -> Tensor:
        states: Tensor = self._trunk(**inputs, output_hidden_states=True).hidden_states[self.layer]
        return states

    @cached_property
    def _block(self) -> Any:
        """The layer, where its output is what the model names so: those above are not computed."""
        count = int(self._trunk.config.num_hidden_layers)
        for part in self._trunk.modules():
            if isinstance(part, nn.ModuleList) and len(part) == count:
                block = part[self.layer - 1]
                break
        else:
            return None
        inputs = {"input_ids": self.backend.split.probe(8).view(2, 4)}
        with torch.inference_mode():
            states, named = _until(block, self._trunk, inputs), self._hidden(inputs)
        same = states.shape == named.shape and torch.allclose(states, named, atol=1e-5, rtol=1e-5)
        return block if same else None


class _Reached(Exception):
    """Carries a layer's output out of the model that would go on."""


def _until(block: Any, trunk: Any, inputs: dict[str, Any]) -> Tensor:
    """A layer's output; what comes after it is not computed."""

    def stop(part: Any, inputs: Any, output: Any) -> None:
        raise _Reached(output[0] if isinstance(output, tuple) else output)

    hook = block.register_forward_hook(stop)
    try:
        trunk(**inputs)
    except _Reached as reached:
        states: Tensor = reached.args[0]
        return states
    finally:
        hook.remove()
    raise AssertionError("the layer was not called")
