"""Windows as the driver sends them: cut by tokens, tried, halved, asked twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from stereometer.types import Answer, Request

TRIES = 3
"""Workers that a window may cost before it is halved, and a single request before it is skipped."""
CHECKED, LEAST_CHECKED = 0.02, 2
"""Of the requests of every window so many, drawn at random, are asked of another worker, too: a
worker that errs now and then errs in few windows, and a share of each finds it where a whole window
out of fifty does not."""
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
    tokens: int
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

    def check(self, number: int, answers: Mapping[str, Answer], draw: Random) -> Window:
        """Some of its requests, for another worker than the one that answered."""
        wanted = min(len(self.requests), max(LEAST_CHECKED, round(CHECKED * len(self.requests))))
        drawn = {key: self.requests[key] for key in draw.sample(list(self.requests), wanted)}
        tokens = sum(request.tokens for request in drawn.values())
        first = {key: answers[key] for key in drawn}
        return Window(drawn, tokens, delivered=True, asked_before=number, first=first)

    def halves(self) -> Iterator[Window]:
        keys = list(self.requests)
        middle = len(keys) // 2
        for part in (keys[:middle], keys[middle:]):
            requests = {key: self.requests[key] for key in part}
            tokens = sum(request.tokens for request in requests.values())
            yield Window(requests, tokens, tries=TRIES - 1 if len(part) > 1 else 0)


def noticed(checked: int) -> float | None:
    """The smallest share of wrong answers of which so many checks would have met at least one, with
    CERTAINTY; None without a check."""
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
            yield Window(part, tokens)
            left -= tokens
            part, tokens, limit = {}, 0, size()
    if part:
        yield Window(part, tokens)
