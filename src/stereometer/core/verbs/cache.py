"""The verbs of `cache`: the answers kept on disk."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.core.options import verb
from stereometer.core.runs.cache import Cache
from stereometer.core.show.view import View, line
from stereometer.core.types.document import Document
from stereometer.core.types.shown import Shown, Told


@dataclass(frozen=True, repr=False)
class CacheInfo(Shown, Document):
    """Where the cache is, and how large."""

    path: str
    answers: int
    bytes: int
    cap: int
    schema: str = "cache@1"

    def view(self) -> View:
        size, cap = self.bytes / 1e6, self.cap / 1e6
        kept = f"{self.path}: {self.answers} answers, {size:.1f} MB of at most {cap:.0f} MB"
        return View(parts=(line(kept),))


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
