"""Asks a model about items: plan, dedupe, cache, ask, score.

Items flow through in windows of a few thousand requests, so memory does not grow with their number.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping

from stereometer.runs.cache import Cache
from stereometer.runs.engines.serial import Engine
from stereometer.runs.plan import Planned, Tally, distinct, planned, windows
from stereometer.types import Answer, Asking, Measure, Request, Score, Skip

KEEP_SECONDS = 10.0
"""New answers are written to disk at least this often, however few they are."""
Progress = Callable[[int, int], None]
"""Called with items done and items in all."""


def silent(done: int, total: int) -> None:
    return None


def answered(
    requests: Mapping[str, Request],
    engine: Engine,
    cache: Cache,
    tally: Tally,
    progress: Callable[[float], None] = lambda share: None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Answer]:
    """Each request's answer, from the cache or from the model; new answers are kept a batch at a
    time, and every few seconds."""
    identity, batch = engine.backend.card.identity, engine.backend.abilities.keep_every
    answers = cache.get(identity, list(requests))
    missing = {key: request for key, request in requests.items() if key not in answers}
    tally.from_cache += len(answers)
    fresh: dict[str, Answer] = {}
    kept = clock()
    try:
        for key, answer in engine.answer(missing):
            fresh[key] = answers[key] = answer
            progress(len(answers) / len(requests))
            if len(fresh) >= batch or clock() - kept >= KEEP_SECONDS:
                cache.put(identity, fresh)
                fresh, kept = {}, clock()
    finally:
        cache.put(identity, fresh)
    return answers


def computed(
    asking: Asking, engine: Engine, cache: Cache, tally: Tally, progress: Progress = silent
) -> Iterator[Score]:
    """The score of every item, in order."""
    total = len(asking.items)
    for window in windows(planned(asking.items, asking.measure)):
        requests = distinct(window)
        tally.requests += sum(len(list(plan)) for plan in window)
        tally.distinct += len(requests)
        tally.tokens += sum(request.tokens for request in requests.values())
        done, size = tally.items, len(window)

        def within(share: float, done: int = done, size: int = size) -> None:
            """Progress within a window: items count by the share of requests that are answered."""
            progress(done + int(share * size), total)

        answers = answered(requests, engine, cache, tally, within)
        for plan in window:
            yield scored(plan, asking.measure, answers)
        tally.items += size
        progress(tally.items, total)


def scored(plan: Planned, measure: Measure, answers: Mapping[str, Answer]) -> Score:
    """What the answers give an item, or the reason it has no score."""
    item = plan.item
    try:
        if plan.skipped is not None:
            raise Skip(plan.skipped)
        exchanged = {
            name: [(request, _whole(answers[request.key])) for request in asked]
            for name, asked in plan.requests.items()
        }
        score = measure.score(item, exchanged)
        if not all(map(math.isfinite, score.values.values())):
            raise Skip("a score is not a finite number")
        return score
    except Skip as skip:
        return Score(item.id, item.slices, {}, skip.reason, item.texts)


def _whole(answer: Answer) -> Answer:
    """An answer with rows or text; one that has neither says why, and its item is skipped."""
    if answer.text is None and not answer.rows:
        raise Skip(answer.end or "no answer")
    return answer
