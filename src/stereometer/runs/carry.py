"""What measuring verbs do with jobs: carry them out, plan them, or ask one part of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stereometer.options import ModelOptions
from stereometer.runs.engines.pool.choice import PATIENCE, Engines, hands
from stereometer.runs.execute import LOG, Announce, execute_all, with_outlook
from stereometer.runs.plan import Tally
from stereometer.runs.plans import plans_of
from stereometer.runs.progress import Watch
from stereometer.runs.shards import Shard, ask_part, part_of
from stereometer.types import Job
from stereometer.types.results import Results


class AskedPart(Results):
    """What one part of many gives: no result, but answers for `cache merge`."""

    shard: Shard
    tally: Tally

    @property
    def remarks(self) -> list[str]:
        part, tally = self.shard.part, self.tally
        return [
            f"Part {part.number} of {part.of}: {tally.items} items, {tally.distinct} requests. "
            f"Stored in {self.shard.answers}. When all parts are there: stereometer cache merge "
            f"{self.shard.path.parent}"
        ]

    def as_json(self) -> dict[str, Any]:
        counts = {name: asdict(self.tally)[name] for name in ("items", "distinct", "from_cache")}
        part = {"shard": self.shard.part.number, "of": self.shard.part.of}
        return {"schema": "asked-shard@1", **part, **counts, "path": str(self.shard.answers)}


def engines_of(options: ModelOptions) -> Engines:
    patience = options.get("worker_timeout", PATIENCE)
    return Engines(hands(options.get("workers"), options.get("gpus_per_worker"), patience))


def carry_out(
    jobs: Iterable[Job],
    engines: Engines,
    options: ModelOptions,
    out: str | Path | None = None,
    cache: bool = True,
    progress: Watch | bool = True,
    announce: Announce = LOG.warning,
) -> Results:
    """Nothing is carried out in a dry run, and one part of a run gives no result. Whatever else
    ends the run carries what was finished before as `results`."""
    shard = options.get("shard")
    part = part_of(shard) if shard is not None else None
    if options.get("dry_run"):
        return plans_of(with_outlook(jobs, announce), engines, part)
    if part is not None:
        asked = AskedPart()
        place = Path(out) if out is not None else None
        asked.shard, asked.tally = ask_part(with_outlook(jobs, announce), part, place, engines)
        return asked
    results = Results()
    try:
        for run in execute_all(jobs, out, cache, progress, engines, announce):
            results.append(run.result)
    except BaseException as stop:
        vars(stop)["results"] = results
        raise
    return results
