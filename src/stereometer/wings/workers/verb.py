"""The verb `cache merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from stereometer.core.options import verb
from stereometer.core.runs.cache import Cache
from stereometer.core.types.shown import Told
from stereometer.wings.workers import shards as parts


@verb
def merge(*shards: Annotated[str | Path, "Folders or files that `run --shard K/N` wrote."]) -> Told:
    """Take in the answers of the parts of a run, made with --shard."""
    with Cache() as cache:
        merged = parts.merge([Path(shard) for shard in shards], cache)
    return Told(*merged.remarks, **merged.as_json())
