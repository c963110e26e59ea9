"""cache info, clear and merge: the answers kept on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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


@command("Data", "cache merge stereometer-shards")
def merge(
    *,
    shards: Annotated[list[Path], "Folders or files that `run --shard K/N` wrote."],
    json: Json = False,
) -> None:
    """Take in the answers of the parts of a run, made with --shard."""
    from stereometer.runs.cache import Cache
    from stereometer.runs.shards import merge as merge_shards

    with Cache() as cache:
        merged = merge_shards(shards, cache)
    if json:
        render.print_json(merged.as_json())
        return
    say(
        f"{merged.shards} of {merged.of} parts, {merged.answers} answers, {merged.new} of them new."
    )
    if merged.damaged:
        say(f"{merged.damaged} answers were damaged and left out. They will be asked again.")
    if merged.missing:
        say(f"Missing: {', '.join(map(str, merged.missing))}. What they hold will be asked again.")
    say("Run the same command without --shard for the results.")
