"""What driver and workers exchange: messages, windows of requests, and which answers count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from random import Random
from typing import Protocol, TypeAlias

from stereometer.core.types import (
    NOT_FINITE,
    Answer,
    CausalTokens,
    Follows,
    Generate,
    MaskedBlank,
    MaskedTokens,
    NextTokens,
    Options,
    Request,
    SpanVectors,
)
from stereometer.core.types.opener import Record


@dataclass(frozen=True)
class Hello:
    """A worker has opened the model: who answers."""

    identity: str
    """Of the model's card: weights, tokenizer, dtype, settings."""
    versions: Mapping[str, str]
    """Of the packages that decide an answer."""
    record: Record | None = field(default=None, compare=False)
    """What the worker saw of the model."""


@dataclass(frozen=True)
class Answers:
    """What a worker answered to the window it was sent first."""

    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class Failed:
    """A worker lives and says that it cannot."""

    reason: str
    whose: str
    """`model`: every worker would say the same. `machine`: another worker may do better.
    `window`: something in what it was asked."""


@dataclass(frozen=True)
class Gone:
    """A worker is no more."""

    reason: str


Event: TypeAlias = Hello | Answers | Failed | Gone


class Crew(Protocol):
    """Starts and stops workers and passes messages; it decides nothing."""

    def size(self) -> int:
        """How many workers there should be; may change as machines come and go."""

    def start(self) -> int:
        """A new worker's number; it says Hello when it is ready."""

    def send(self, worker: int, requests: Mapping[str, Request]) -> None:
        """Never waits for the worker; windows are answered in the order sent."""

    def events(self, seconds: float) -> Iterable[tuple[int, Event]]:
        """What was heard, at the latest after so many seconds; nothing of workers stopped."""

    def stop(self, worker: int) -> None: ...

    def close(self) -> None: ...


ABOVE_ZERO = 1e-4
"""How far above 0 rounding may carry a log-probability."""
AGREEMENT = {"float32": 1e-4, "float64": 1e-4}
"""How far apart two workers' numbers may be, by precision, for numbers about 1;"""
ROUGHLY = 0.05
"""and in any other precision."""


def expected_length(request: Request) -> int | None:
    """Entries in each column of an answer, where the request fixes it."""
    match request:
        case MaskedTokens(_, steps):
            return len(steps)
        case CausalTokens(ids, start):
            return len(ids) - start
        case MaskedBlank(_, _, asked) | NextTokens(_, asked):
            return len(asked)
        case Options(options=options):
            return len(options)
        case Follows():
            return 1
    return None


def breach(request: Request, answer: object) -> str | None:
    """Why an answer cannot be one to this request."""
    if not isinstance(answer, Answer):
        return "it is not an answer"
    if isinstance(request, Generate):
        return None if isinstance(answer.text, str) else "nothing was written"
    if not answer.rows:
        return None if answer.end else "it is empty"
    rows = len(request.positions) if isinstance(request, SpanVectors) else 1
    if len(answer.rows) != rows:
        return f"it has {len(answer.rows)} rows where {rows} were asked"
    return next((why for row in answer.rows for why in _row(request, row)), None)


def _row(request: Request, row: Mapping[str, object]) -> list[str]:
    faults = []
    for name, column in row.items():
        values = list(column)  # type: ignore[call-overload]
        length = 1 if name == "mass" else expected_length(request)
        if length is not None and len(values) != length:
            faults.append(f"it has {len(values)} numbers where {length} were asked")
        elif not all(map(isfinite, values)):
            faults.append(NOT_FINITE)
        elif name in ("logprob", "logmass") and max(values, default=0.0) > ABOVE_ZERO:
            faults.append("a log-probability is above 0")
    return faults if row else ["it has no numbers"]


def breaches(requests: Mapping[str, Request], answers: Mapping[str, Answer]) -> dict[str, str]:
    """By key, why a request has no answer that counts."""
    faults = {
        key: why
        for key, request in requests.items()
        if (why := breach(request, answers[key]) if key in answers else "it was not answered")
    }
    if answers.keys() - requests.keys():
        return dict.fromkeys(requests, "what was not asked was answered") | faults
    return faults


def differing(first: Mapping[str, Answer], second: Mapping[str, Answer], dtype: str) -> str | None:
    """The key of a request to which two workers gave answers that are not the same."""
    tolerance = AGREEMENT.get(dtype, ROUGHLY)
    return next((key for key in first if not agree(first[key], second[key], tolerance)), None)


def agree(left: Answer, right: Answer, tolerance: float) -> bool:
    if (left.text, left.end, len(left.rows)) != (right.text, right.end, len(right.rows)):
        return False
    return all(
        mine.keys() == other.keys()
        and all(
            abs(x - y) <= tolerance * max(1.0, abs(x))
            for name in mine
            for x, y in zip(mine[name], other[name], strict=True)
        )
        for mine, other in zip(left.rows, right.rows, strict=True)
    )


TRIES = 3
"""Workers that a window may cost before it is halved, and a single request before it is skipped."""
CHECKED, LEAST_CHECKED = 0.02, 2
"""So many requests of each window, drawn at random, are asked of another worker too: a share of all
finds a worker that errs now and then, where one whole window out of fifty does not."""
CERTAINTY = 0.95
IN_FLIGHT_TOKENS = 2**21
"""Tokens sent or waiting to be sent, however many workers there are."""
LARGEST_WINDOW, SMALLEST_WINDOW = 2**15, 2**9
DEPTH = 2
"""Windows that a worker has at once: one it computes, one it finds when that is done."""


@dataclass(eq=False)
class Window:
    """Requests that travel together."""

    requests: Mapping[str, Request]
    checked: bool = False
    """Whether two workers are asked all of it, and its answers wait for both: the first."""
    delivered: bool = False
    """Whether its answers were given away: it only checks them."""
    tries: int = 0
    """Workers it has cost."""
    asked_before: int | None = None
    """The worker that answered last: another is asked next, if there is one."""
    first: Mapping[str, Answer] | None = None
    """What the first of two workers answered."""
    broken: Mapping[str, str] = field(default_factory=dict)
    """Requests whose answers broke the contract when it was first asked, and why."""
    sound: Mapping[str, Answer] = field(default_factory=dict)
    """The other answers of that time."""

    @cached_property
    def tokens(self) -> int:
        return sum(request.tokens for request in self.requests.values())

    def check(self, number: int, answers: Mapping[str, Answer], draw: Random) -> Window:
        """Some of its requests, for another worker than the one that answered."""
        wanted = min(len(self.requests), max(LEAST_CHECKED, round(CHECKED * len(self.requests))))
        drawn = {key: self.requests[key] for key in draw.sample(list(self.requests), wanted)}
        first = {key: answers[key] for key in drawn}
        return Window(drawn, delivered=True, asked_before=number, first=first)

    def halves(self) -> Iterator[Window]:
        keys = list(self.requests)
        middle = len(keys) // 2
        for part in (keys[:middle], keys[middle:]):
            requests = {key: self.requests[key] for key in part}
            yield Window(requests, tries=TRIES - 1 if len(part) > 1 else 0)


def noticed(checked: int) -> float | None:
    """The smallest share of wrong answers that so many checks would have met, with CERTAINTY."""
    return round(1 - (1 - CERTAINTY) ** (1 / checked), 4) if checked else None


def window_tokens(workers: int) -> int:
    """How large a window may be, so that all workers together stay within what is in flight."""
    share = IN_FLIGHT_TOKENS // (max(1, workers) * (DEPTH + 1))
    return max(SMALLEST_WINDOW, min(LARGEST_WINDOW, share))


def cut(
    requests: Mapping[str, Request], workers: int, begins: bool = False, ends: bool = False
) -> Iterator[Window]:
    """Windows in the order of the requests, because neighbours share work.

    Where a run begins, the first window is small: it is asked twice. Where it ends, windows grow
    smaller, so that workers finish together.
    """
    left, most = sum(request.tokens for request in requests.values()), window_tokens(workers)
    smallest = min(most, max(SMALLEST_WINDOW, left // (32 * max(1, workers))))

    def size() -> int:
        return min(most, max(smallest, left // (2 * max(1, workers)))) if ends else most

    part: dict[str, Request] = {}
    tokens, limit = 0, smallest if begins else size()
    for key, request in requests.items():
        part[key] = request
        tokens += request.tokens
        if tokens >= limit:
            yield Window(part)
            left -= tokens
            part, tokens, limit = {}, 0, size()
    if part:
        yield Window(part)
