"""Which model answers behind a server's name: the numbers that it gave for a known sentence are remembered beside its answers.

A server's log-probabilities differ a little from one asking to the next, so no rounding of them can be a key: some always straddle
an edge. They are held against those first seen. What is near is the same model, under the first numbers; what is not is another.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Protocol

from stereometer.types import Answer

TOLERANCE = 0.05
"""Of a token's log-probability. Batches and half precision move it by less, other weights by more."""


class Memory(Protocol):
    """Answers by identity and key: the answer cache."""

    def get(self, identity: str, keys: Sequence[str]) -> Mapping[str, Answer]: ...

    def put(self, identity: str, answers: Mapping[str, Answer]) -> None: ...


def remembered(server: str, likelihoods: Sequence[float], memory: Memory) -> tuple[float, ...]:
    """The likelihoods first seen of the model that has these, as far as can be told; these, where it is a new one."""
    fresh = Answer(({"logprob": array("d", likelihoods)},))
    for number in count():
        key = f"likelihoods {number}"
        memory.put(server, {key: fresh})  # one that is there already stays
        first = memory.get(server, [key]).get(key, fresh).column("logprob")
        if alike(first, likelihoods):
            return tuple(first)
    raise AssertionError("a free number ends the search")


def alike(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether they are of as many tokens, none farther apart than the tolerance."""
    return len(first) == len(second) and not any(
        abs(one - other) > TOLERANCE for one, other in zip(first, second, strict=True)
    )
