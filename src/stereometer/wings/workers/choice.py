"""Where a run's requests are answered: in this process, in others, or on a cluster."""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.options import ModelOptions
from stereometer.core.runs.engines import Engines
from stereometer.core.types import Backend, ModelSpec, Request
from stereometer.core.types.opener import Record
from stereometer.wings.workers.crew import Crew, Event, Gone
from stereometer.wings.workers.driver import Pool
from stereometer.wings.workers.worker import versions_of

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


def hands(workers: str | int | None, gpus: int | None = None, patience: float = PATIENCE) -> Hands:
    """`4`, `ray` or `ray://HOST:PORT`, as a user writes it."""
    if workers is None:
        raise UsageError(
            "--gpus-per-worker was given without --workers. There are no workers that could "
            "have them. Add --workers ray, or a number."
        )
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


class WorkerEngines(Engines):
    """Workers stay while the model is asked: several benchmarks and measures load it once."""

    elsewhere = True

    def __init__(self, chosen: Hands) -> None:
        super().__init__()
        self.callback(self.stop)
        self.hands, self.place = chosen, chosen.cluster
        self.specs: dict[str, ModelSpec] = {}
        self.pool: Pool | None = None

    def stop(self) -> None:
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

    def __call__(self, backend: Backend) -> Pool:
        there = None if self.pool is None else self.pool.ours
        if self.pool is None or there is None or there.identity != backend.card.identity:
            self.pool = self._hired(self._spec(backend), backend)
        self.pool.backend = backend
        return self.pool

    def seen(self, spec: ModelSpec) -> Record:
        """By workers, who stay to be asked."""
        self.pool = self._hired(spec)
        return self.pool.seen()

    def _hired(self, spec: ModelSpec, backend: Backend | None = None) -> Pool:
        self.stop()
        crew = (_ray_crew if self.hands.cluster else _local_crew)(self.hands, spec)
        return Pool(backend, crew, versions_of(spec), self.hands.patience)

    def workers(self, backend: Backend) -> int:
        return self(backend).crew.size()

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


def from_options(options: ModelOptions) -> WorkerEngines:
    patience = options.get("worker_timeout", PATIENCE)
    return WorkerEngines(hands(options.get("workers"), options.get("gpus_per_worker"), patience))


def _local_crew(chosen: Hands, spec: ModelSpec) -> Crew:
    gpus = chosen.gpus or 0
    if gpus:
        _check_gpus(chosen.workers * gpus)
    threads = getattr(spec.options, "threads", None) or threads_for(chosen.workers, None)
    return Processes(worker_spec(spec, threads, gpus), chosen.workers, threads, gpus)


def _check_gpus(wanted: int) -> None:
    from stereometer.models.local.opener import gpus

    there = gpus()
    if wanted > there:
        raise UsageError(
            f"The workers want {wanted} GPUs, and this machine has {there}. Each has its own. "
            "Take fewer workers, or fewer GPUs for each."
        )


def _ray_crew(chosen: Hands, spec: ModelSpec) -> Crew:
    try:
        from stereometer.wings.workers.actors import Actors
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
    """The model on what a worker has: its threads, its GPU, or all of its GPUs together; without
    any, workers do not look for one, which they would all take."""
    changes: dict[str, Any] = {"threads": threads}
    if gpus or getattr(spec.options, "device", "") == "auto":
        changes["device"] = ("cpu", "cuda")[gpus] if gpus < 2 else "gpus"
    known: Mapping[str, Any] = getattr(spec.options, "__dataclass_fields__", {})
    changes = {name: value for name, value in changes.items() if name in known}
    return replace(spec, options=replace(spec.options, **changes)) if changes else spec


MAIN = "stereometer.wings.workers.worker"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
"""How libraries are told how many threads they may use."""
LAST_WORDS = 5.0
"""Seconds for a process to end after its connection did."""
Heard = tuple[int, Event]


class Process:
    """A worker's process, with a thread that writes to it and one that listens."""

    def __init__(
        self, number: int, spec: ModelSpec, env: Mapping[str, str], heard: SimpleQueue[Heard]
    ) -> None:
        self.number, self.heard = number, heard
        self.process = subprocess.Popen(
            [sys.executable, "-m", MAIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **env},
        )
        self.outbox: SimpleQueue[bytes] = SimpleQueue()
        self.threads = [
            Thread(target=run, daemon=True, name=f"stereometer-worker-{number}")
            for run in (self._write, self._listen)
        ]
        for thread in self.threads:
            thread.start()
        self.send(spec)

    def send(self, message: object) -> None:
        self.outbox.put(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))

    def _write(self) -> None:
        assert self.process.stdin is not None
        with suppress(OSError), self.process.stdin as pipe:  # the listener hears of it too
            while message := self.outbox.get():
                pipe.write(message)
                pipe.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        try:
            with self.process.stdout as pipe:
                while True:
                    event: Event = pickle.load(pipe)
                    self.heard.put((self.number, event))
        except (EOFError, OSError, pickle.UnpicklingError):  # gone, perhaps in mid-message
            self.heard.put((self.number, Gone(self._end())))
        except Exception as error:
            self.process.kill()
            self.heard.put((self.number, Gone(f"sent what cannot be read ({error})")))

    def _end(self) -> str:
        try:
            code = self.process.wait(LAST_WORDS)
        except subprocess.TimeoutExpired:
            return "closed its connection"
        if code >= 0:
            return f"ended with code {code}"
        name = signal.Signals(-code).name
        memory = "; perhaps there was too little memory" if name == "SIGKILL" else ""
        return f"was ended by {name}{memory}"

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.outbox.put(b"")
        for thread in self.threads:
            thread.join(LAST_WORDS)


VISIBLE = "CUDA_VISIBLE_DEVICES"


def visible_gpus(number: int) -> list[str]:
    """The names of this process's GPUs: those it was given, or all from 0 on."""
    given = [name.strip() for name in os.environ.get(VISIBLE, "").split(",") if name.strip()]
    return given or [str(at) for at in range(number)]


class Processes:
    """So many processes, each with its share of the threads and of the GPUs."""

    def __init__(self, spec: ModelSpec, workers: int, threads: int, gpus: int = 0) -> None:
        self.spec, self.workers, self.threads, self.gpus = spec, workers, threads, gpus
        self.running: dict[int, Process] = {}
        self.places: dict[int, int] = {}
        """Which share of the machine a worker has, from 0 on."""
        self.heard: SimpleQueue[Heard] = SimpleQueue()
        self.numbers = count(1)

    def size(self) -> int:
        return self.workers

    def start(self) -> int:
        number = next(self.numbers)
        self.places[number] = next(at for at in count() if at not in self.places.values())
        env = self._environment(self.places[number])
        self.running[number] = Process(number, self.spec, env, self.heard)
        return number

    def _environment(self, place: int) -> dict[str, str]:
        paths = [path or os.getcwd() for path in sys.path]
        env = {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
        env |= dict.fromkeys(THREADS, str(self.threads))
        if self.gpus:
            first = place * self.gpus
            env[VISIBLE] = ",".join(visible_gpus(self.workers * self.gpus)[first:][: self.gpus])
        return env

    def send(self, worker: int, requests: Mapping[str, Request]) -> None:
        self.running[worker].send(requests)

    def events(self, seconds: float) -> Iterator[Heard]:
        try:
            heard = self.heard.get(timeout=seconds)
            while True:
                if heard[0] in self.running:
                    yield heard
                heard = self.heard.get_nowait()
        except Empty:
            return

    def stop(self, worker: int) -> None:
        process = self.running.pop(worker, None)
        self.places.pop(worker, None)
        if process is not None:
            process.stop()

    def close(self) -> None:
        for worker in list(self.running):
            self.stop(worker)
