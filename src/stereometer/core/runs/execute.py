"""Carries out jobs: asks, stores and summarises, one folder a result."""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from stereometer.core import catalog
from stereometer.core.files import read_json, replacing, to_json
from stereometer.core.runs import store
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.progress import Watch, watched_by
from stereometer.core.runs.runner import Engine, Progress, Serial, Tally, computed, silent
from stereometer.core.runs.stored import Run
from stereometer.core.types import Asking, Backend, Charges, Job, Score

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

LOG = logging.getLogger("stereometer")
Announce = Callable[[str], None]
"""Given what a reader should know beforehand."""
Engines = Callable[[Backend], Engine]
"""Where a model's requests are answered."""


def execute(
    job: Job,
    place: Path | None = None,
    cache: Cache | None = None,
    engines: Engines = Serial,
    progress: Progress = silent,
) -> Run:
    """Streams scores to disk and into estimates; its folder, at `place`, holds a whole run or
    none."""
    place = place or store.place_of(job)
    with store.claimed(place, job.plan) as finished:
        if finished is not None:
            known = replace(finished, settings={**finished.settings, **job.series})
            if known != finished:
                store.keep(place, known, read_json(place / store.RUN))
            return Run(known, place)
        started, begun, tally = time.time(), time.monotonic(), Tally()
        backend = job.source.backend if isinstance(job.source, Asking) else None
        before: Mapping[str, float] = backend.charged if isinstance(backend, Charges) else {}
        digest = sha256()
        asked = _scores(job, cache, engines, tally, progress)
        with replacing(place / store.SCORES) as file, closing(asked) as scores:
            estimates = job.summarize(_written(scores, job, file, digest))
        described = job.describe(estimates)
        result = replace(
            described,
            scores_digest=digest.hexdigest(),
            # With its place in a series, also where it was measured before there was one.
            settings={**described.settings, **job.series},
            folder=place.resolve(),
        )
        python = platform.python_version()
        record = {
            "schema": store.RUN_SCHEMA,
            "plan": job.plan,
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
            "seconds": round(time.monotonic() - begun, 3),
            "asked": asdict(tally),
            "machine": f"{platform.system()} {platform.machine()}, Python {python}",
        }
        if isinstance(backend, Charges) and (charged := backend.charged):
            record["charged"] = {name: charged[name] - before[name] for name in charged}
        if backend is not None and (workers := engines(backend).record):
            record["workers"] = workers
        store.keep(place, result, record)
    return Run(result, place)


def _scores(
    job: Job, cache: Cache | None, engines: Engines, tally: Tally, progress: Progress
) -> Generator[Score]:
    if not isinstance(job.source, Asking):
        for score in job.source():
            tally.items += 1
            yield score
        return
    if cache is None:
        raise ValueError("a job that asks a model needs a cache")
    engine, whole = engines(job.source.backend), len(job.source.items)
    if job.stopping is None:
        yield from computed(job.source, engine, cache, tally, progress)
        return

    def among_all(done: int, total: int, status: str = "") -> None:
        progress(done, whole, *([status] if status else []))

    for block in job.stopping.blocks():
        part = replace(job.source, items=block)
        for score in computed(part, engine, cache, tally, among_all):
            job.stopping.add(score)
            yield score


def _written(scores: Iterable[Score], job: Job, file: IO[str], digest: Hash) -> Iterator[Score]:
    """Items that are hidden leave their texts out of what is stored and shown; a number says which
    of them have the same."""
    shape = catalog.shape(job.kind)
    for score in scores:
        copy = job.hidden.get(score.item)
        kept = replace(score, texts={}, copy=copy) if copy else score
        line = to_json(shape.stored(kept).as_json(), indent=None) + "\n"
        file.write(line)
        digest.update(line.encode())
        yield kept


def execute_all(
    jobs: Iterable[Job],
    out: str | Path | None = None,
    keep_cache: bool = True,
    watch: Watch | bool = True,
    engines: Engines = Serial,
    announce: Announce = LOG.warning,
) -> Iterator[Run]:
    """One job after the other, answers shared; `out` holds a folder for each. What a small design
    could show at all is announced before it is asked."""
    with opened_cache(keep_cache) as cache:
        for job in with_outlook(jobs, announce):
            with watched_by(watch)(job.title) as progress:
                run = execute(job, store.place_of(job, out), cache, engines, progress)
            yield run


def with_outlook(jobs: Iterable[Job], announce: Announce) -> Iterator[Job]:
    """The jobs, after what a small design could show at all; the same is said once."""
    said: set[str] = set()
    for job in jobs:
        if isinstance(job.source, Asking):
            level = float(job.plan.get("level", 0.95))
            outlook = catalog.shape(job.kind).outlook(job.source.items, level)
            if outlook and outlook not in said:
                announce(outlook)
                said.add(outlook)
        yield job


@contextmanager
def opened_cache(keep: bool) -> Iterator[Cache]:
    """The shared answer cache, or one that is thrown away."""
    own = nullcontext() if keep else TemporaryDirectory(prefix="stereometer-")
    with own as folder, Cache(Path(folder) / "answers.sqlite" if folder else None) as cache:
        yield cache
