"""Which model answers behind a server's name, by the numbers it gave for a known sentence.

A server's log-probabilities differ a little from one asking to the next, so no rounding of them can
be a key: some always straddle an edge. They are compared with those first seen, which are kept
beside the answers. What is near is the same model, under the first numbers; what is not is another.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count

from stereometer.errors import StereometerError
from stereometer.types import Memory

TOLERANCE = 0.05
"""Of a log-probability. Batches and half precision move it by less, other weights by more."""


def known_likelihoods(
    server: str, likelihoods: Sequence[float], memory: Memory | None
) -> tuple[float, ...]:
    """The likelihoods first seen of the model that has these; these, where it is a new one.

    A memory that cannot be used is no reason not to ask.
    """
    try:
        return remembered(server, likelihoods, memory) if memory else tuple(likelihoods)
    except StereometerError:
        return tuple(likelihoods)


def remembered(server: str, likelihoods: Sequence[float], memory: Memory) -> tuple[float, ...]:
    fresh = json.dumps([float(likelihood) for likelihood in likelihoods])
    for number in count():
        key = f"{server} {number}"
        memory.keep("servers", key, fresh)  # one that is there already stays
        first = json.loads(memory.record("servers", key) or fresh)
        if alike(first, likelihoods):
            return tuple(first)
    raise AssertionError("a free number ends the search")


def alike(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether they are of as many tokens, none farther apart than the tolerance."""
    return len(first) == len(second) and not any(
        abs(left - right) > TOLERANCE for left, right in zip(first, second, strict=True)
    )
