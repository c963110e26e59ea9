"""A worker: opens a model from its spec, says who it is, and answers windows of requests.

`python -m stereometer.wings.workers.worker` is the main program of a local worker. It talks
through its standard input and output, ends when the driver is gone, and imports nothing of the
user's script.
"""

import os
import pickle
import signal
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from stereometer.core.errors import StereometerError
from stereometer.core.types import ModelSpec, Request, Scorer
from stereometer.core.types.opener import Record
from stereometer.wings.workers.crew import Answers, Event, Failed, Hello

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
        model = spec.open()
        if isinstance(model, Scorer):
            raise TypeError("a system has no requests to answer")
        self.spec, self.backend = spec, model

    def hello(self) -> Hello:
        identity, seen = self.backend.card.identity, Record.of(self.backend)
        return Hello(identity, versions_of(self.spec), seen)

    def answer(self, requests: Mapping[str, Request]) -> Answers | Failed:
        try:
            return Answers(dict(self.backend.answer(requests)))
        except Exception as error:
            return failure(error)


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


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver
    ears, mouth = os.fdopen(_taken(0), "rb"), os.fdopen(_taken(1), "wb")
    inbox: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_read, args=(ears, inbox), daemon=True).start()
    worker = opened(inbox.get())
    if isinstance(worker, Failed):
        _send(mouth, worker)
        return
    _send(mouth, worker.hello())
    while True:
        _send(mouth, worker.answer(inbox.get()))


def _taken(standard: int) -> int:
    """A standard stream for us alone: what a model prints or asks for goes nowhere."""
    ours = os.dup(standard)
    with open(os.devnull, "r+b") as nowhere:
        os.dup2(nowhere.fileno(), standard)
    return ours


def _read(ears: IO[bytes], inbox: SimpleQueue[Any]) -> None:
    """Always listening, so that the driver never waits, and its end is heard in mid-computation."""
    try:
        while True:
            inbox.put(pickle.load(ears))
    except (EOFError, OSError, pickle.UnpicklingError):
        os._exit(0)
    finally:  # what cannot be read is no request
        os._exit(1)


def _send(mouth: IO[bytes], event: Event) -> None:
    pickle.dump(event, mouth, pickle.HIGHEST_PROTOCOL)
    mouth.flush()


if __name__ == "__main__":
    main()
