"""Memory that gives way instead of failing, and is given back between batches."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import cache
from typing import Any, TypeVar

import torch

from stereometer.errors import ModelError

EVERY = 1.0
"""Seconds between two givings back: each takes some ten milliseconds."""
Piece = TypeVar("Piece", bound=Sized)
Outcome = TypeVar("Outcome")
_given_back = [0.0]
"""When it was last done; the allocator is the process's, and so is this."""


def each(
    batches: Iterable[list[Piece]], run: Callable[[list[Piece]], Outcome]
) -> Iterator[Outcome]:
    """What comes of every batch, or of its parts where memory is short."""
    for batch in batches:
        yield from shrinking(batch, run)


def shrinking(batch: list[Piece], run: Callable[[list[Piece]], Outcome]) -> Iterator[Outcome]:
    """Runs a batch; where memory runs out, its halves; raises where one piece does not fit."""
    try:
        outcome = run(batch)
    except (MemoryError, torch.OutOfMemoryError):
        pass
    except RuntimeError as error:
        if "allocate memory" not in str(error) and "out of memory" not in str(error):
            raise
    else:
        give_back()
        yield outcome
        return
    if len(batch) == 1:
        raise ModelError(
            f"A text of {len(batch[0])} tokens does not fit into memory. The model is too large "
            "for this machine. Use a smaller one or another --device."
        )
    half = len(batch) // 2
    yield from each((batch[:half], batch[half:]), run)


def give_back() -> None:
    """Returns free memory to the system: states of ever other sizes leave holes that add up."""
    trim = _trim()
    if trim is not None and time.monotonic() - _given_back[0] >= EVERY:
        trim(0)
        _given_back[0] = time.monotonic()


@cache
def _trim() -> Any:
    """glibc's way; other allocators do it by themselves."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # TypeError: there is no such library on Windows
        return None
