"""A worker: opens a model from its spec, says who it is, and answers windows of requests.

`python -m stereometer.runs.engines.pool.worker FD` is the main program of a local worker. It talks
over the socket FD, ends when the driver is gone, and imports nothing of the user's script.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from stereometer.errors import StereometerError
from stereometer.runs.engines.pool.crew import Answers, Event, Failed, Hello
from stereometer.types import Backend, ModelSpec, Request, System

ALWAYS = ("stereometer", "numpy")
WITH = {"transformers": ("tokenizers",)}
"""Packages that decide an answer and come with those that an opener names."""


def versions_of(spec: ModelSpec) -> dict[str, str]:
    """Of what decides an answer; empty for a package that is not there."""
    module, _, name = spec.opener.partition(":")
    needs: tuple[str, ...] = getattr(import_module(module), name).needs
    more = (also for need in needs for also in WITH.get(need, ()))
    return {package: _version(package) for package in (*ALWAYS, *needs, *more)}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


class Worker:
    """One opened model."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec, self.backend = spec, _asked(spec.open())

    def hello(self) -> Hello:
        return Hello(self.backend.card.identity, versions_of(self.spec))

    def answer(self, requests: Mapping[str, Request]) -> Answers | Failed:
        try:
            return Answers(dict(self.backend.answer(requests)))
        except Exception as error:
            return failure(error)


def _asked(model: Backend | System) -> Backend:
    if isinstance(model, System):
        raise TypeError("a system has no requests to answer")
    return model


def failure(error: Exception) -> Failed:
    if isinstance(error, StereometerError):
        return Failed(str(error), "model")
    said = f"{type(error).__name__}: {error}"[:500]
    return Failed(said, "machine" if isinstance(error, OSError) else "window")


def opened(spec: ModelSpec) -> Worker | Failed:
    try:
        return Worker(spec)
    except Exception as error:
        return failure(error)


# --------------------------------------------------------------------------- the main program


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver
    connection = Connection(int(sys.argv[1]))
    inbox: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read, args=(connection, inbox), daemon=True).start()
    worker = opened(pickle.loads(inbox.get()))
    if isinstance(worker, Failed):
        _send(connection, worker)
        return
    _send(connection, worker.hello())
    while True:
        _send(connection, worker.answer(pickle.loads(inbox.get())))


def _read(connection: Connection, inbox: SimpleQueue[bytes]) -> None:
    """Always listening, so that the driver never waits, and its end is heard in mid-computation."""
    try:
        while True:
            inbox.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


def _send(connection: Connection, event: Event) -> None:
    connection.send_bytes(pickle.dumps(event, pickle.HIGHEST_PROTOCOL))


if __name__ == "__main__":
    main()
