"""The verbs of `cache`: the answers kept on disk."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.core.options import verb
from stereometer.core.runs.cache import Cache
from stereometer.core.types.document import Document
from stereometer.core.types.shown import Shown, Told
from stereometer.core.verbs import view as views


@dataclass(frozen=True, repr=False)
class CacheInfo(Shown, Document):
    """Where the cache is, and how large."""

    path: str
    answers: int
    bytes: int
    cap: int
    schema: str = "cache@1"

    view = views.cache


@verb
def info() -> CacheInfo:
    """Say where the cache is and how large."""
    with Cache() as cache:
        return CacheInfo(**cache.info())


@verb
def clear() -> Told:
    """Forget every kept answer."""
    with Cache() as cache:
        count = cache.clear()
    return Told(f"{count} answers forgotten.", schema="cache-cleared@1", answers=count)
