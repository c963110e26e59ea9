"""Workers that are processes on this machine."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from queue import Empty, SimpleQueue
from threading import Thread

from stereometer.runs.engines.pool.crew import Event, Gone
from stereometer.types import ModelSpec, Request

MAIN = "stereometer.runs.engines.pool.worker"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
"""How libraries are told how many threads they may use."""
LAST_WORDS = 5.0
"""Seconds for a process to end after its connection did."""


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


Heard = tuple[int, Event]


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
