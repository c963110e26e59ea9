"""Asks a model about items: plan, dedupe, cache, ask, score.

Items flow through in windows of a few thousand requests. Windows may be answered in any order and
several at once; items are scored in their own order, and what waits for that is bounded, so memory
does not grow with their number.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from stereometer.core.errors import ModelError
from stereometer.core.runs.cache import Cache
from stereometer.core.types import (
    NOT_FINITE,
    Answer,
    Asking,
    Backend,
    Item,
    Measure,
    OutOfScope,
    Request,
    Requests,
    Score,
    Skip,
)

Windows = Iterator[Mapping[str, Request]]
"""Requests by key, a window at a time; a window is empty where nothing new is to be asked yet."""


class Engine(Protocol):
    """Answers requests with a model, wherever it runs."""

    @property
    def backend(self) -> Backend: ...

    @property
    def keep_every(self) -> int:
        """How many answers may wait before they are written to the cache."""

    @property
    def status(self) -> str:
        """How it goes, for the line that shows progress; empty where there is nothing to say."""

    @property
    def record(self) -> Mapping[str, Any]:
        """What happened, for run.json; empty where there is nothing to say."""

    def stream(self, windows: Windows) -> Iterator[Mapping[str, Answer]]:
        """Draws a window when there is room for it and gives answers in batches, in any order; at
        least one batch, which may be empty, for each window drawn."""


class Serial:
    """Asks the backend and checks that every request came back once."""

    status = ""
    record: Mapping[str, Any] = {}

    def __init__(self, backend: Backend) -> None:
        self.backend, self.keep_every = backend, backend.abilities.keep_every

    def stream(self, windows: Windows) -> Iterator[Mapping[str, Answer]]:
        for requests in windows:
            open_keys = set(requests)
            for key, answer in self.backend.answer(requests):
                if key not in open_keys:
                    raise ModelError(
                        f"{self.backend.card.name} answered a request twice or one it was not "
                        "asked. That is a fault of the backend. Report it."
                    )
                open_keys.discard(key)
                yield {key: answer}
            if open_keys:
                raise ModelError(
                    f"{self.backend.card.name} left {len(open_keys)} of {len(requests)} requests "
                    "without an answer. That is a fault of the backend. Report it."
                )
            yield {}


WINDOW = 4096
"""Requests planned before they are asked, at most;"""
WINDOW_TOKENS = 2**19
"""and the tokens that a model reads for them: what is planned takes memory by the token."""


@dataclass(frozen=True)
class Planned:
    """An item and the requests of its candidates, or the reason it has none."""

    item: Item
    requests: Requests = field(default_factory=dict)
    skipped: str | None = None

    def __iter__(self) -> Iterator[Request]:
        return (request for asked in self.requests.values() for request in asked)


def planned(items: Iterable[Item], measure: Measure) -> Iterator[Planned]:
    for item in items:
        try:
            yield Planned(item, measure.plan(item))
        except Skip as skip:
            yield Planned(item, skipped=skip.reason)


def windows(
    plans: Iterable[Planned], size: int = WINDOW, read: int = WINDOW_TOKENS
) -> Iterator[list[Planned]]:
    """Items of so many requests, or of so many tokens read, together; an item is never torn."""
    window: list[Planned] = []
    count = tokens = 0
    for plan in plans:
        requests = list(plan)
        window.append(plan)
        count += max(1, len(requests))
        tokens += sum(request.tokens for request in requests)
        if count >= size or tokens >= read:
            yield window
            window, count, tokens = [], 0, 0
    if window:
        yield window


def distinct(window: Iterable[Planned]) -> dict[str, Request]:
    """Every request once, by key."""
    return {request.key: request for plan in window for request in plan}


@dataclass
class Tally:
    """What a run did: for run.json and the dry run."""

    items: int = 0
    requests: int = 0
    distinct: int = 0
    tokens: int = 0
    from_cache: int = 0


KEEP_SECONDS = 10.0
"""New answers are written to disk at least this often, however few they are."""
AHEAD_TOKENS, AHEAD_REQUESTS = 2**22, 2**16
"""Tokens and requests that may wait for the answers of an earlier window."""


class Progress(Protocol):
    """Called with items done and items in all, and how it goes where an engine says so."""

    def __call__(self, done: int, total: int, status: str = "") -> None: ...


def silent(done: int, total: int, status: str = "") -> None:
    return None


@dataclass
class Keeper:
    """Writes new answers to the cache, a batch at a time and every few seconds."""

    engine: Engine
    cache: Cache
    clock: Callable[[], float] = time.monotonic
    fresh: dict[str, Answer] = field(default_factory=dict)
    since: float = 0.0

    def add(self, answers: Mapping[str, Answer]) -> None:
        self.fresh |= {key: answer for key, answer in answers.items() if answer.kept}
        late = self.clock() - self.since >= KEEP_SECONDS
        if len(self.fresh) >= self.engine.keep_every or (late and self.fresh):
            self.write()

    def write(self) -> None:
        if self.fresh:
            self.cache.put(self.engine.backend.card.identity, self.fresh)
        self.fresh, self.since = {}, self.clock()


@dataclass
class Waiting:
    """A window of planned items until all its answers are there."""

    plans: list[Planned]
    answers: dict[str, Answer]
    missing: set[str]
    tokens: int
    size: int
    """How many distinct requests."""


@dataclass
class WindowQueue:
    """Windows in the order of items: planned ahead, answered in any order, scored in turn."""

    asking: Asking
    keeper: Keeper
    tally: Tally
    waiting: deque[Waiting] = field(default_factory=deque)
    under_way: dict[str, list[Waiting]] = field(default_factory=dict)

    def feed(self) -> Windows:
        """What is to be asked; empty where all is known, or enough is under way."""
        for plans in windows(planned(self.asking.items, self.asking.measure)):
            while (
                sum(window.tokens for window in self.waiting) >= AHEAD_TOKENS
                or sum(window.size for window in self.waiting) >= AHEAD_REQUESTS
            ):
                yield {}
            requests, tally = distinct(plans), self.tally
            new = [key for key in requests if key not in self.under_way]
            self.keeper.write()  # so that the cache gives answers of this run, too
            answers = self.keeper.cache.get(self.asking.backend.card.identity, new)
            tokens = sum(request.tokens for request in requests.values())
            missing = requests.keys() - answers.keys()
            window = Waiting(plans, answers, missing, tokens, len(requests))
            tally.requests += sum(len(list(plan)) for plan in plans)
            tally.distinct += window.size
            tally.tokens += tokens
            tally.from_cache += len(answers)
            self.waiting.append(window)
            for key in missing:
                self.under_way.setdefault(key, []).append(window)
            yield {key: requests[key] for key in new if key not in answers}

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
        # Of what waits, by the share of requests that are answered.
        done = self.tally.items + sum(
            len(window.plans) * len(window.answers) // max(1, window.size)
            for window in self.waiting
        )
        how = self.keeper.engine.status
        status = [how] if how else []
        progress(done, len(self.asking.items), *status)


def computed(
    asking: Asking, engine: Engine, cache: Cache, tally: Tally, progress: Progress = silent
) -> Iterator[Score]:
    """The score of every item, in order."""
    keeper = Keeper(engine, cache)
    queue = WindowQueue(asking, keeper, tally)
    try:
        for answers in engine.stream(queue.feed()):
            queue.arrived(answers)
            queue.tell(progress)
            yield from queue.scored()
        queue.tell(progress)
    finally:
        keeper.write()


def scored(plan: Planned, measure: Measure, answers: Mapping[str, Answer]) -> Score:
    """What the answers give an item, or the reason it has no score."""
    item = plan.item
    if plan.skipped is not None:
        return Score(item.id, item.slices, {}, plan.skipped, item.texts)
    try:
        exchanged = {
            name: [(request, answers[request.key]) for request in asked]
            for name, asked in plan.requests.items()
        }
        for answer in (answer for asked in exchanged.values() for _, answer in asked):
            if answer.text is None and not answer.rows:  # it says why, and its item is skipped
                raise Skip(answer.end or "no answer")
        score = measure.score(item, exchanged)
        if not all(map(math.isfinite, score.values.values())):
            raise Skip(NOT_FINITE)
    except OutOfScope as skip:
        return Score(item.id, item.slices, {}, skip.reason, item.texts)
    except Skip as skip:
        score = Score(item.id, item.slices, {}, skip.reason, item.texts)
    return score if score.skipped is None else replace(score, unanswered=True)
