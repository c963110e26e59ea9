"""Asks a model about items: plan, dedupe, cache, ask, score.

Items flow through in windows of a few thousand requests. Windows may be answered in any order and
several at once; items are scored in their own order, and what waits for that is bounded, so memory
does not grow with their number.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from stereometer.runs.cache import Cache
from stereometer.runs.engines.engine import Engine, Windows
from stereometer.runs.plan import Planned, Tally, distinct, planned, windows
from stereometer.types import NOT_FINITE, Answer, Asking, Measure, OutOfScope, Request, Score, Skip

KEEP_SECONDS = 10.0
"""New answers are written to disk at least this often, however few they are."""
AHEAD_TOKENS, AHEAD_REQUESTS = 2**22, 2**16
"""Tokens and requests that may wait for the answers of an earlier window."""


class Progress(Protocol):
    """Called with items done and items in all, and how it goes where an engine says so."""

    def __call__(self, done: int, total: int, status: str = "") -> None: ...


def silent(done: int, total: int, status: str = "") -> None:
    return None


class Keeper:
    """Writes new answers to the cache, a batch at a time and every few seconds."""

    def __init__(
        self, engine: Engine, cache: Cache, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.identity, self.keep_every = engine.backend.card.identity, engine.keep_every
        self.cache, self.clock, self.since = cache, clock, clock()
        self.fresh: dict[str, Answer] = {}

    def add(self, answers: Mapping[str, Answer]) -> None:
        self.fresh |= {key: answer for key, answer in answers.items() if answer.kept}
        late = self.clock() - self.since >= KEEP_SECONDS
        if len(self.fresh) >= self.keep_every or (late and self.fresh):
            self.write()

    def write(self) -> None:
        if self.fresh:
            self.cache.put(self.identity, self.fresh)
        self.fresh, self.since = {}, self.clock()

    def known(self, keys: list[str]) -> dict[str, Answer]:
        """Answers that are there already, those of this run among them."""
        self.write()
        return self.cache.get(self.identity, keys)


@dataclass
class Waiting:
    """A window of planned items until all its answers are there."""

    plans: list[Planned]
    answers: dict[str, Answer]
    missing: set[str]
    tokens: int

    @property
    def size(self) -> int:
        return len(self.answers) + len(self.missing)

    @property
    def items_answered(self) -> int:
        """By the share of requests that are answered."""
        return len(self.plans) * len(self.answers) // max(1, self.size)


class Pipeline:
    """Windows in the order of items: planned ahead, answered in any order, scored in turn."""

    def __init__(self, asking: Asking, engine: Engine, keeper: Keeper, tally: Tally) -> None:
        self.asking, self.engine, self.keeper, self.tally = asking, engine, keeper, tally
        self.waiting: deque[Waiting] = deque()
        self.under_way: dict[str, list[Waiting]] = {}

    def feed(self) -> Windows:
        """What is to be asked; empty where all is known, or enough is under way."""
        for plans in windows(planned(self.asking.items, self.asking.measure)):
            while self._is_full():
                yield {}
            yield self._begun(plans)

    def _is_full(self) -> bool:
        tokens = sum(window.tokens for window in self.waiting)
        requests = sum(window.size for window in self.waiting)
        return tokens >= AHEAD_TOKENS or requests >= AHEAD_REQUESTS

    def _begun(self, plans: list[Planned]) -> dict[str, Request]:
        requests = distinct(plans)
        new = [key for key in requests if key not in self.under_way]
        answers = self.keeper.known(new)
        tokens = sum(request.tokens for request in requests.values())
        window = Waiting(plans, answers, requests.keys() - answers.keys(), tokens)
        self._count(window)
        self.waiting.append(window)
        asked = {key: requests[key] for key in new if key not in answers}
        for key in window.missing:
            self.under_way.setdefault(key, []).append(window)
        return asked

    def _count(self, window: Waiting) -> None:
        tally = self.tally
        tally.requests += sum(len(list(plan)) for plan in window.plans)
        tally.distinct += window.size
        tally.tokens += window.tokens
        tally.from_cache += len(window.answers)

    def arrived(self, answers: Mapping[str, Answer]) -> None:
        """The first answer to a request counts; one that nobody waits for is dropped."""
        awaited = {key: answer for key, answer in answers.items() if key in self.under_way}
        for key, answer in awaited.items():
            for window in self.under_way.pop(key):
                window.missing.discard(key)
                window.answers[key] = answer
        self.keeper.add(awaited)

    def scored(self) -> Iterator[Score]:
        """The items of the first windows, as far as they are answered."""
        while self.waiting and not self.waiting[0].missing:
            window = self.waiting.popleft()
            for plan in window.plans:
                yield scored(plan, self.asking.measure, window.answers)
            self.tally.items += len(window.plans)

    def tell(self, progress: Progress) -> None:
        done = self.tally.items + sum(window.items_answered for window in self.waiting)
        status = [self.engine.status] if self.engine.status else []
        progress(done, len(self.asking.items), *status)


def computed(
    asking: Asking, engine: Engine, cache: Cache, tally: Tally, progress: Progress = silent
) -> Iterator[Score]:
    """The score of every item, in order."""
    keeper = Keeper(engine, cache)
    pipeline = Pipeline(asking, engine, keeper, tally)
    try:
        for answers in engine.stream(pipeline.feed()):
            pipeline.arrived(answers)
            pipeline.tell(progress)
            yield from pipeline.scored()
        pipeline.tell(progress)
    finally:
        keeper.write()


def scored(plan: Planned, measure: Measure, answers: Mapping[str, Answer]) -> Score:
    """What the answers give an item, or the reason it has no score."""
    item = plan.item
    if plan.skipped is not None:
        return Score(item.id, item.slices, {}, plan.skipped, item.texts)
    try:
        exchanged = {
            name: [(request, _whole(answers[request.key])) for request in asked]
            for name, asked in plan.requests.items()
        }
        score = measure.score(item, exchanged)
        if not all(map(math.isfinite, score.values.values())):
            raise Skip(NOT_FINITE)
    except OutOfScope as skip:
        return Score(item.id, item.slices, {}, skip.reason, item.texts)
    except Skip as skip:
        score = Score(item.id, item.slices, {}, skip.reason, item.texts)
    return score if score.skipped is None else replace(score, unanswered=True)


def _whole(answer: Answer) -> Answer:
    """An answer with rows or text; one that has neither says why, and its item is skipped."""
    if answer.text is None and not answer.rows:
        raise Skip(answer.end or "no answer")
    return answer
