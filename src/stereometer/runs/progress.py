"""Progress as lines of text, where there is no terminal that could draw it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stereometer.runs.runner import Progress

EVERY = 30.0
"""Seconds between two lines."""


def say(line: str) -> None:
    """Standard output is for results."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def lines(
    title: str,
    write: Callable[[str], None] = say,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Progress]:
    """Writes how far a job is every 30 seconds, so that a short one writes nothing."""
    started = last = clock()

    def progress(done: int, total: int, status: str = "") -> None:
        nonlocal last
        now = clock()
        if now - last >= EVERY and done < total:
            last = now
            how = f" ({status})" if status else ""
            write(f"{title}: {done:,} of {total:,} items{_left(done, total, now - started)}{how}")

    yield progress


def _left(done: int, total: int, seconds: float) -> str:
    if not done:
        return ""
    left = seconds / done * (total - done)
    return f", about {left / 60:.0f} min left" if left >= 90 else f", about {left:.0f} s left"
