"""Requests asked without a measure."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from stereometer.core.runs.cache import Cache
from stereometer.core.runs.runner import Engine, Keeper, Tally
from stereometer.core.types import Answer, Request


def answered(
    requests: Mapping[str, Request],
    engine: Engine,
    cache: Cache,
    tally: Tally,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Answer]:
    """One window's answers, from the cache or from the model, kept as a run keeps them."""
    keeper = Keeper(engine, cache, clock)
    keeper.write()
    answers = cache.get(engine.backend.card.identity, list(requests))
    tally.from_cache += len(answers)
    missing = {key: request for key, request in requests.items() if key not in answers}
    try:
        for batch in engine.stream(iter([missing])):
            answers |= batch
            keeper.add(batch)
    finally:
        keeper.write()
    return answers
