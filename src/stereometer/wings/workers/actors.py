"""Workers that are actors of a Ray cluster. The only file that knows Ray."""

import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError

from stereometer.core.errors import StereometerError, UsageError
from stereometer.core.types import ModelSpec, Request
from stereometer.models.local.files import first_line
from stereometer.wings.workers.crew import Event, Failed, Gone
from stereometer.wings.workers.worker import Worker, failure

LOOK = 2.0
"""Seconds between two looks at what the cluster has."""
REACH = 5.0
"""Seconds for an address to be reached."""
LED = 20.0
"""Seconds for a head to come back."""


class Actor:
    """What runs on the cluster: the same worker, opened by its first call."""

    def __init__(self) -> None:
        self.worker: Worker | None = None

    def open(self, spec: ModelSpec) -> Event:
        try:
            self.worker = Worker(spec)
            return self.worker.hello()
        except Exception as error:
            return failure(error)

    def answer(self, requests: Mapping[str, Request]) -> Event:
        if self.worker is None:
            return Failed("it was asked before it was open", "machine")
        return self.worker.answer(requests)


class Actors:
    """As many actors as the cluster has room for, now."""

    def __init__(
        self, spec_with: Callable[[int], ModelSpec], address: str, threads: int, gpus: int | None
    ) -> None:
        self.connected, self.address = _connect(address), address
        self.threads = threads
        most = max((int(node.get("GPU", 0)) for node in self._nodes()), default=0)
        self.gpus = (1 if most else 0) if gpus is None else gpus
        if self.gpus > most:
            _disconnect(self.connected)
            raise UsageError(
                f"A worker should have {self.gpus} GPUs, and no machine of the cluster has more "
                f"than {most}. Give --gpus-per-worker a smaller number; 0 for none."
            )
        self.spec = spec_with(self.gpus)
        options = {"num_cpus": threads, "num_gpus": self.gpus, "max_restarts": 0}
        remote: Any = ray.remote
        self.remote = remote(**options, max_task_retries=0)(Actor)
        self.actors: dict[int, Any] = {}
        self.pending: dict[Any, int] = {}
        """Calls under way, in the order they were made, and whose they are."""
        self.numbers = count(1)
        self.looked, self.room = 0.0, 0
        self.head, self.seen = _head(address), time.monotonic()
        """Where the cluster is led from, and when that last answered."""

    def _nodes(self) -> list[dict[str, float]]:
        """What each machine of the cluster has."""
        try:
            nodes: list[Any] = ray.nodes()  # type: ignore[no-untyped-call]
        except (RayError, ConnectionError) as error:
            raise _unreachable(self.address, first_line(error)) from None
        return [node["Resources"] for node in nodes if node["Alive"]]

    def size(self) -> int:
        """Machines come and go: looked up every few seconds. There is always one to wait for."""
        if time.monotonic() - self.looked > LOOK:
            self.looked = time.monotonic()
            if self._is_led():
                self.room = max(1, sum(self._room_on(node) for node in self._nodes()))
        return self.room

    def _is_led(self) -> bool:
        """Whether the head answers; raises where it has not for long. Asked without its head, Ray
        waits, and ends this process after a minute."""
        try:
            socket.create_connection(self.head, REACH).close()
        except OSError as error:
            if time.monotonic() - self.seen > LED:
                self.actors.clear()  # nobody is left who could end them
                self.pending.clear()
                raise StereometerError(
                    f"The head of the Ray cluster no longer answers ({error.strerror or error}). "
                    "Without it no worker can be asked. Answers so far are kept: start the cluster "
                    "again, and run the same command."
                ) from None
            return False
        self.seen = time.monotonic()
        return True

    def _room_on(self, node: Mapping[str, float]) -> int:
        """A worker is on one machine, with all that it needs."""
        needs = {"CPU": self.threads} | ({"GPU": self.gpus} if self.gpus else {})
        return min(int(node.get(name, 0) // each) for name, each in needs.items())

    def start(self) -> int:
        number = next(self.numbers)
        self.actors[number] = self.remote.remote()
        self.pending[self.actors[number].open.remote(self.spec)] = number
        return number

    def send(self, worker: int, requests: Mapping[str, Request]) -> None:
        self.pending[self.actors[worker].answer.remote(requests)] = worker

    def events(self, seconds: float) -> Iterator[tuple[int, Event]]:
        if not self.pending:
            time.sleep(seconds)
            return
        for call in self._done(seconds):
            worker = self.pending.pop(call, None)
            if worker is not None:  # stopped meanwhile
                yield worker, _outcome(call)

    def _done(self, seconds: float) -> list[Any]:
        """Calls that have ended, at the latest after so many seconds."""
        calls = list(self.pending)
        try:
            done, _ = ray.wait(calls, num_returns=1, timeout=seconds)
            if done:
                done, _ = ray.wait(calls, num_returns=len(calls), timeout=0)
        except (RayError, ConnectionError) as error:
            raise _unreachable(self.address, first_line(error)) from None
        return done

    def stop(self, worker: int) -> None:
        actor = self.actors.pop(worker, None)
        self.pending = {call: other for call, other in self.pending.items() if other != worker}
        if actor is not None:
            ray.kill(actor)

    def close(self) -> None:
        for worker in list(self.actors):
            self.stop(worker)
        _disconnect(self.connected)


def _outcome(call: Any) -> Event:
    try:
        event: Event = ray.get(call)
        return event
    except RayActorError as error:
        return Gone(f"of the cluster is gone ({first_line(error)})")
    except RayError as error:
        return Gone(f"of the cluster could not answer ({first_line(error)})")


def _connect(address: str) -> bool:
    """Whether this made the connection; one that is there already is used and left."""
    if ray.is_initialized():
        return False
    wanted = os.environ.get("RAY_ADDRESS", address) if address == "auto" else address
    _check_reachable(wanted)
    heard = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except ImportError as error:
        raise UsageError(
            f"{address} needs Ray's client: {first_line(error)}. "
            "Install it with `pip install 'ray[client]'`, or run on the cluster with --workers ray."
        ) from None
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise _unreachable(address, first_line(error)) from None
    with suppress(ValueError):  # Ray takes the signal to itself; only the main thread hears any
        signal.signal(signal.SIGTERM, heard)
    return True


def _head(address: str) -> tuple[str, int]:
    """The place of what leads the cluster: its client's door for who is outside."""
    outside = address.removeprefix("ray://")
    place = outside if outside != address else ray.get_runtime_context().gcs_address
    host, _, port = place.rpartition(":")
    return host, int(port)


def _check_reachable(address: str) -> None:
    """Ray itself would try for half a minute, or for ever. `auto` is looked up by Ray, at once."""
    outside = address.startswith("ray://")
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        if not outside:
            return
        raise UsageError(
            f"{address} is not the address of a Ray cluster. It is ray://HOST:PORT. "
            "The port is 10001 unless the cluster was told otherwise."
        )
    try:
        socket.create_connection((host, int(port)), REACH).close()
    except (OSError, OverflowError) as error:
        raise _unreachable(address, getattr(error, "strerror", None) or str(error)) from None


def _unreachable(address: str, reason: str) -> StereometerError:
    where = "on this machine" if address == "auto" else f"at {address}"
    return StereometerError(
        f"No Ray cluster answers {where}: {reason}. It is not running, or this machine does not "
        "reach it. Start it with `ray start --head`, or check the address."
    )


def _disconnect(connected: bool) -> None:
    if connected:
        ray.shutdown()
