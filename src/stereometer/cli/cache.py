"""Where the cache of answers is, and how large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render

if TYPE_CHECKING:
    from stereometer.verbs.cache import CacheInfo


def print_info(info: CacheInfo) -> None:
    size, cap = info.bytes / 1e6, info.cap / 1e6
    render.line(f"{info.path}: {info.answers} answers, {size:.1f} MB of at most {cap:.0f} MB")
