"""Memory that gives way instead of failing, and is given back between batches."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sized
from functools import cache
from typing import Any, TypeVar

import torch

from stereometer.errors import ModelError

EVERY = 1.0
"""Seconds between two givings back: each takes some ten milliseconds."""
Piece = TypeVar("Piece", bound=Sized)
Found = TypeVar("Found")
_given_back = [0.0]
"""When it was last done; the allocator is the process's, and so is this."""


def shrinking(batch: list[Piece], run: Callable[[list[Piece]], Found]) -> Iterator[Found]:
    """Runs a batch; where memory runs out, its halves; where even one piece does not fit, says so."""
    try:
        found = run(batch)
    except (MemoryError, torch.OutOfMemoryError):
        pass
    except RuntimeError as error:
        if "allocate memory" not in str(error) and "out of memory" not in str(error):
            raise
    else:
        give_back()
        yield found
        return
    if len(batch) == 1:
        raise ModelError(
            f"A text of {len(batch[0])} tokens does not fit into memory. The model is too large for this machine. Use a smaller one or another --device."
        )
    half = len(batch) // 2
    yield from shrinking(batch[:half], run)
    yield from shrinking(batch[half:], run)


def give_back() -> None:
    """Lets the system have what the allocator holds free: states of ever other sizes leave holes, which add up over many batches."""
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
