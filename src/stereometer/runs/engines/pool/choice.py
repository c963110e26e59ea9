"""Where a run's requests are answered: in this process, in others, or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from stereometer.errors import ModelError, UsageError
from stereometer.runs.engines.engine import Engine
from stereometer.runs.engines.pool.crew import Crew
from stereometer.runs.engines.pool.driver import Pool
from stereometer.runs.engines.pool.processes import Processes
from stereometer.runs.engines.pool.worker import versions_of
from stereometer.runs.engines.serial import Serial
from stereometer.types import Backend, ModelSpec

PATIENCE = 900.0
"""Seconds in which a worker must answer a window."""
RAY = "ray"


@dataclass(frozen=True)
class Hands:
    """How many workers there are, where, and what each may use."""

    workers: int = 0
    """Processes on this machine; 0 for none."""
    cluster: str = ""
    """The address of a Ray cluster: `auto`, or ray://HOST:PORT."""
    gpus: int | None = None
    """GPUs of each worker; None for one where there are any."""
    patience: float = PATIENCE

    @property
    def elsewhere(self) -> bool:
        return bool(self.workers or self.cluster)


def hands(workers: str | int | None, gpus: int | None = None, patience: float = PATIENCE) -> Hands:
    """`4`, `ray` or `ray://HOST:PORT`, as a user writes it."""
    if workers is None:
        if gpus is not None:
            raise UsageError(
                "--gpus-per-worker was given without --workers. There are no workers that could "
                "have them. Add --workers ray, or a number."
            )
        return Hands(patience=patience)
    text = str(workers)
    if gpus is not None and gpus < 0:
        raise UsageError(f"{gpus} GPUs for a worker make no sense. Give 0 or more.")
    if patience <= 0:
        raise UsageError(f"No worker answers in {patience:g} s. The default is {PATIENCE:g}.")
    if text == RAY or text.startswith(f"{RAY}://"):
        return Hands(cluster="auto" if text == RAY else text, gpus=gpus, patience=patience)
    if not text.lstrip("-").isdigit():
        raise UsageError(
            f"--workers {text} is not understood. It is a number of processes, `ray` or "
            "ray://HOST:PORT. For instance --workers 4."
        )
    if int(text) < 1:
        raise UsageError(
            f"{text} workers can answer nothing. At least one is needed. Leave --workers out to "
            "ask in this process."
        )
    return Hands(int(text), gpus=gpus, patience=patience)


def threads_for(workers: int, threads: int | None) -> int:
    """The threads of each of some workers on this machine."""
    return max(1, (threads or os.cpu_count() or 1) // max(1, workers))


class Engines:
    """Gives each model its engine; workers stay for as long as the model is asked, so several
    benchmarks and measures load it once."""

    def __init__(self, chosen: Hands | None = None) -> None:
        self.hands = chosen or Hands()
        self.specs: dict[str, ModelSpec] = {}
        self.pool: Pool | None = None

    def __enter__(self) -> Engines:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        if self.pool is not None:
            self.pool.close()
            self.pool = None

    def loading(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """How a model is loaded: with the threads that each worker on this machine has."""
        if not self.hands.workers:
            return dict(options)
        threads = threads_for(self.hands.workers, options.get("threads"))
        return {**options, "threads": threads}

    def remember(self, backend: Backend, spec: ModelSpec) -> None:
        """What opens the same model in another process."""
        self.specs[backend.card.identity] = spec

    def __call__(self, backend: Backend) -> Engine:
        if not self.hands.elsewhere:
            return Serial(backend)
        identity = backend.card.identity
        if self.pool is None or self.pool.backend.card.identity != identity:
            self.close()
            spec = self._spec(backend)
            crew = (_ray_crew if self.hands.cluster else _local_crew)(self.hands, spec)
            self.pool = Pool(backend, crew, versions_of(spec), self.hands.patience)
        return self.pool

    def workers(self, backend: Backend) -> int:
        """How many there would be; 0 where this process answers itself."""
        engine = self(backend)
        return engine.crew.size() if isinstance(engine, Pool) else 0

    def _spec(self, backend: Backend) -> ModelSpec:
        if backend.abilities.costly:
            raise UsageError(
                f"{backend.card.name} is behind a server. Workers would send the same requests to "
                "it. Use --in-flight, or several addresses: server:URL1,URL2#model."
            )
        spec = self.specs.get(backend.card.identity)
        if spec is None:
            raise ModelError(
                f"{backend.card.name} is a model in memory. Another process cannot open it. "
                "Save it to a folder and name that, or leave workers out."
            )
        return spec


def _local_crew(chosen: Hands, spec: ModelSpec) -> Crew:
    gpus = chosen.gpus or 0
    if gpus:
        _check_gpus(chosen.workers * gpus)
    threads = getattr(spec.options, "threads", None) or threads_for(chosen.workers, None)
    return Processes(worker_spec(spec, threads, gpus), chosen.workers, threads, gpus)


def _check_gpus(wanted: int) -> None:
    from stereometer.backends.local.devices import gpus

    there = gpus()
    if wanted > there:
        raise UsageError(
            f"The workers want {wanted} GPUs, and this machine has {there}. Each has its own. "
            "Take fewer workers, or fewer GPUs for each."
        )


def _ray_crew(chosen: Hands, spec: ModelSpec) -> Crew:
    try:
        from stereometer.runs.engines.pool.actors import Actors
    except ModuleNotFoundError as error:
        if error.name != RAY:
            raise
        raise UsageError(
            "--workers ray needs Ray, which is not installed. It is the optional part `ray` of "
            "the package. From a clone: `pip install '.[ray]'`."
        ) from None
    threads = getattr(spec.options, "threads", None) or 1
    return Actors(partial(worker_spec, spec, threads), chosen.cluster, threads, chosen.gpus)


def worker_spec(spec: ModelSpec, threads: int, gpus: int) -> ModelSpec:
    """The model on what a worker has: its threads, its GPU, or all of its GPUs together."""
    changes: dict[str, Any] = {"threads": threads}
    if gpus:
        changes["device"] = "cuda" if gpus == 1 else "auto"
    known: Mapping[str, Any] = getattr(spec.options, "__dataclass_fields__", {})
    changes = {name: value for name, value in changes.items() if name in known}
    return replace(spec, options=replace(spec.options, **changes)) if changes else spec
