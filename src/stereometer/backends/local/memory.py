"""Memory that gives way instead of failing, and is given back between batches."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import torch

from stereometer.errors import ModelError

EVERY = 1.0
"""Seconds between two givings back: each takes some ten milliseconds."""
Piece = TypeVar("Piece", bound=Sized)
Outcome = TypeVar("Outcome")
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""As malloc.h numbers them."""
HELD = 2**30
"""Smaller blocks than this come from memory that the process has, and as much of it stays."""
USUAL = 32 * 2**20
"""The highest that glibc goes by itself once large blocks have been freed."""
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
        with held():
            outcome = run(batch)
    except (MemoryError, RuntimeError) as error:
        if not is_shortage(error):
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


def is_shortage(error: Exception) -> bool:
    """Of memory, by whatever name."""
    words = ("allocate memory", "out of memory")
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(
        each in str(error) for each in words
    )


@contextmanager
def held() -> Iterator[None]:
    """Freed memory stays with the process: taken again page by page it costs more than what is
    computed in it. Afterwards the C library does what it does by itself with large blocks."""
    library = _library()
    if library is None:
        yield
        return
    try:
        _set_thresholds(library, HELD, HELD)
        yield
    finally:
        _set_thresholds(library, USUAL, 2 * USUAL)


def _set_thresholds(library: Any, mapped: int, trimmed: int) -> None:
    library.mallopt(M_MMAP_THRESHOLD, mapped)
    library.mallopt(M_TRIM_THRESHOLD, trimmed)


def give_back() -> None:
    """Returns free memory to the system: states of ever other sizes leave holes that add up."""
    library = _library()
    if library is not None and time.monotonic() - _given_back[0] >= EVERY:
        library.malloc_trim(0)
        _given_back[0] = time.monotonic()


@cache
def _library() -> Any:
    """glibc; other allocators do it by themselves."""
    try:
        library = ctypes.CDLL(None)
        return library if library.malloc_trim and library.mallopt else None
    except (AttributeError, OSError, TypeError):  # TypeError: there is no such library on Windows
        return None
