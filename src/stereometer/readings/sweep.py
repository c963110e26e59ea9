"""The verb `sweep`: the same items under every admissible reading."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from stereometer.benchmarks.benchmark import Benchmark
from stereometer.curation.audit.audits import faulty
from stereometer.curation.runs import StoredRun
from stereometer.errors import UsageError
from stereometer.files import UTF8, read_json
from stereometer.readings.gather import (
    by_model,
    check_measures,
    jobs_of,
    stored_runs,
    swept_shapes,
)
from stereometer.readings.job import Gathered
from stereometer.readings.order import Order, orders
from stereometer.runs import store
from stereometer.runs.engines.pool.choice import Engines, hands
from stereometer.runs.execute import execute, execute_all
from stereometer.runs.models import Model, ModelOptions, check_known, opened
from stereometer.runs.open import open_benchmark
from stereometer.runs.progress import Watch
from stereometer.runs.series import members, names_for
from stereometer.tables import Layout
from stereometer.types import Finished, Result, Settings
from stereometer.types.document import Document
from stereometer.types.shown import Drawn, Shown

LOG = logging.getLogger("stereometer")


@dataclass(frozen=True)
class Requests:
    """What the runs of a sweep needed of their models."""

    needed: int
    """Distinct requests of each run, added up."""
    asked: int
    """Sent to a model; the others were shared between runs, or known before."""


@dataclass(frozen=True, repr=False)
class Sweep(Shown, Drawn, Document):
    """Everything `stereometer sweep` shows."""

    benchmark: str
    results: tuple[Result, ...]
    """One for each model and shape, of kind `sweep`."""
    orders: tuple[Order, ...]
    """Every two models, by question."""
    requests: Requests
    folders: tuple[str, ...]
    """Where the results are stored."""
    schema: str = "sweep@1"


def sweep(
    benchmark: str | Path,
    *,
    model: Model | list[Model] | None = None,
    runs: Sequence[store.Stored] = (),
    measure: str | Sequence[str] = (),
    data: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    coverage: float = 0.90,
    delta: float = 5.0,
    out: str | Path | None = None,
    cache: bool = True,
    column: Mapping[str, str] | None = None,
    encoding: str = UTF8,
    progress: Watch | bool = True,
    workers: int | str | None = None,
    gpus_per_worker: int | None = None,
    **options: Unpack[ModelOptions],
) -> Sweep:
    """Measure the same items under every admissible reading, and test those of one question
    together.

    - `benchmark`: CATs or pairs: a name, or a file of your own.
    - `model`: one model, a pattern for several, or a list; each is asked in every way that it can
      answer.
    - `runs`: folders of runs on these items, replayed ones too; no model is asked for these.
    - `measure`: only readings of these measures; by default all in the table.
    - `resamples`: how often labels are swapped.

    Everything else is as for `run`.
    """
    check_known(options, verb=sweep)
    settings = Settings("sound", seed, resamples, coverage=coverage, delta=delta)
    measures = [measure] if isinstance(measure, str) else measure
    check_measures(measures)
    loaded = open_benchmark(str(benchmark), data, layout=Layout(encoding, column or {}))
    swept_shapes(loaded)
    stored = stored_runs(runs, loaded)
    named = model if isinstance(model, list) else [] if model is None else [model]
    models: list[Model] = []
    for one in named:  # what a pattern stands for; any other is itself
        pattern = isinstance(one, str | Path)
        models += [member.spec for member in members(str(one))] if pattern else [one]
    finished: list[Finished] = []
    specs = [str(each) if isinstance(each, str | Path) else "in memory" for each in models]
    names = names_for(specs)
    for each, called in zip(models, names, strict=True):
        with (
            Engines(hands(workers, gpus_per_worker)) as engines,
            opened(each, seed, options, engines) as asked,
        ):
            jobs = jobs_of(loaded, asked, measures, settings, limit, called)
            finished += execute_all(jobs, out, cache, progress, engines)
    return sweep_of(stored, finished, loaded, settings, out)


def sweep_of(
    stored: Sequence[StoredRun],
    finished: Sequence[Finished],
    benchmark: Benchmark,
    settings: Settings,
    out: str | Path | None,
) -> Sweep:
    """What runs say together, each model for itself, and then every two models."""
    runs = [*stored, *(StoredRun(each.folder, each.result) for each in finished)]
    if not runs:
        raise UsageError(
            "No model and no run was named. A sweep is of a model under many readings. Name one "
            "with --model, or stored runs with --run."
        )
    grouped = by_model(runs)
    shapes = dict.fromkeys(mine[0].shape for mine in grouped.values())
    flagged = {shape: faulty(benchmark, shape) for shape in shapes}
    gathered = [
        Gathered(benchmark, mine, settings, *flagged[mine[0].shape]) for mine in grouped.values()
    ]
    several = [each for each in gathered if not each.is_single]
    for each in gathered if several else ():
        if each.is_single:
            LOG.warning(
                "%s has one reading of the %s items only: they are left out of the sweep.",
                each.model,
                each.shape.name,
            )
    jobs = [each.job() for each in several or gathered]
    done = [execute(job, store.place_of(job, out)) for job in jobs]
    swept = [(each.result, list(store.load_scores(each.folder, each.result))) for each in done]
    return Sweep(
        benchmark.name,
        tuple(result for result, _ in swept),
        tuple(orders(swept, settings)),
        _requests(runs),
        tuple(str(each.folder) for each in done),
    )


def _requests(runs: Sequence[StoredRun]) -> Requests:
    """As the runs recorded them when they were made."""
    asked = [read_json(run.folder / store.RUN).get("asked", {}) for run in runs]
    needed = sum(int(each.get("distinct", 0)) for each in asked)
    return Requests(needed, needed - sum(int(each.get("from_cache", 0)) for each in asked))
