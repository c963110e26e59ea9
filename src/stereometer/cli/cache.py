"""cache info and clear: the answers kept on disk."""

from __future__ import annotations

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json


@command("Data", "cache info")
def info(*, json: Json = False) -> None:
    """Say where the cache is and how large."""
    from stereometer.runs.cache import Cache

    with Cache() as cache:
        state = cache.info()
    if json:
        render.print_json({"schema": "cache@1", **state})
    else:
        size, cap = int(state["bytes"]) / 1e6, int(state["cap"]) / 1e6
        render.line(
            f"{state['path']}: {state['answers']} answers, {size:.1f} MB of at most {cap:.0f} MB"
        )


@command("Data", "cache clear")
def clear(*, json: Json = False) -> None:
    """Forget every kept answer."""
    from stereometer.runs.cache import Cache

    with Cache() as cache:
        count = cache.clear()
    if json:
        render.print_json({"schema": "cache-cleared@1", "answers": count})
    else:
        say(f"{count} answers forgotten.")
