"""What will be asked: items with their requests, in windows, every distinct request once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from stereometer.types import Item, Measure, Request, Requests, Skip

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
