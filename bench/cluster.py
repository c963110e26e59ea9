"""What one driver can do: its own ceiling, and a thousand simulated workers.

    python -m bench.cluster ceiling     requests per second with the fake model, serial and by workers
    python -m bench.cluster simulate    1,000 simulated workers in four processes, 10^5 and 10^6 requests

Simulated workers receive and send real, pickled messages and wait as long as a real one would
compute. CPU seconds are of the driver alone; the machine may be busy.
"""

from __future__ import annotations

import argparse
import heapq
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from stereometer.core.runs.cache import Cache
from stereometer.core.runs.runner import Engine, Serial, Tally, computed
from stereometer.core.types import Answer, Asking, CausalTokens, ModelSpec, Request, Score
from stereometer.models.baselines.fake import Fake
from stereometer.wings.workers.choice import Hands, WorkerEngines
from stereometer.wings.workers.crew import Answers, Event, Hello
from stereometer.wings.workers.driver import Pool

TOKENS = 16
"""Of each request."""
NAMED = "stereometer.core.types.opener:NAMED"
FAKE = ModelSpec(NAMED, "stereometer.models.baselines.fake:Fake")


@dataclass(frozen=True)
class Item:
    id: str
    number: int
    slices: Mapping[str, str]
    texts: Mapping[str, str]
    hidden: bool = False


class Items(Sequence[Any]):
    """Made when they are asked for: what grows is the driver's, not the items'."""

    def __init__(self, total: int) -> None:
        self.total = total

    def __len__(self) -> int:
        return self.total

    def __getitem__(self, at: Any) -> Any:
        if not 0 <= at < self.total:
            raise IndexError(at)
        return Item(f"i{at}", at, {}, {})


class Plain:
    """Two requests per item."""

    name = "plain@1"
    recorded: Mapping[str, Any] = {}

    def items(self, items: Sequence[Any]) -> tuple[Sequence[Any], tuple[str, ...]]:
        return items, ()

    def plan(self, item: Item) -> Mapping[str, Sequence[Request]]:
        block, place = divmod(item.number, 30000)
        ids = (block, *((place + at * 7919) % 30000 for at in range(TOKENS - 2)))
        return {name: [CausalTokens((*ids, 30000 + at), 1)] for at, name in enumerate("ab")}

    def score(self, item: Item, exchanged: Mapping[str, Any]) -> Score:
        sums = {name: sum(rows[0][1].column("logprob")) for name, rows in exchanged.items()}
        return Score(item.id, {}, sums)

    def summarize(self, scores: Any, settings: Any) -> list[Any]:
        return []


def asked(engine: Engine, requests: int) -> tuple[float, float]:
    """Wall and CPU seconds of this process for planning, asking, keeping and scoring."""
    asking = Asking(Items(requests // 2), Plain(), engine.backend)
    with tempfile.TemporaryDirectory() as folder, Cache(Path(folder) / "c", cap=2**40) as cache:
        began, used = time.perf_counter(), time.process_time()
        for _ in computed(asking, engine, cache, Tally()):
            pass
        return time.perf_counter() - began, time.process_time() - used


def ceiling(requests: int) -> None:
    load = os.getloadavg()[0]
    print(f"{requests} requests of {TOKENS} tokens, load {load:.1f} at the start")
    wall, cpu = asked(Serial(Fake()), requests)
    print(f"serial: {requests / cpu:,.0f} requests a CPU second of the driver, {wall:.1f} s wall")
    for workers in (2, 4, 8, 16):
        with WorkerEngines(Hands(workers)) as engines:
            backend = Fake()
            engines.remember(backend, FAKE)
            engine = engines(backend)
            asked(engine, 2000)  # workers are there
            wall, cpu = asked(engine, requests)
        print(f"{workers} workers: {requests / cpu:,.0f} a CPU second, {wall:.1f} s wall")


# ------------------------------------------------------------------------------------- simulation


def simulated(connection: Connection, rate: float) -> None:
    """Many workers in one process: each answers its windows in turn, after as long as it takes."""
    due: list[tuple[float, int, int, bytes]] = []
    free: dict[int, float] = {}
    count = 0
    while True:
        pause = max(0.0, due[0][0] - time.monotonic()) if due else None
        if wait([connection], pause):
            message = connection.recv()
            if message is None:
                return
            worker, requests = message
            tokens = sum(request.tokens for request in requests.values())
            free[worker] = max(free.get(worker, 0.0), time.monotonic()) + tokens / rate
            answers = {key: _answer(request) for key, request in requests.items()}
            count += 1
            heapq.heappush(due, (free[worker], count, worker, pickle.dumps(Answers(answers))))
        while due and due[0][0] <= time.monotonic():
            _, _, worker, content = heapq.heappop(due)
            connection.send((worker, content))


def _answer(request: Request) -> Answer:
    assert isinstance(request, CausalTokens)
    return Answer(({"logprob": array("d", [-1.0] * (len(request.ids) - request.start))},))


class Simulated:
    """A crew of workers that wait, in a few processes."""

    def __init__(self, workers: int, processes: int, rate: float) -> None:
        self.workers = workers
        self.lines: list[Connection] = []
        self.processes: list[SpawnProcess] = []
        self.outboxes: list[SimpleQueue[bytes]] = []
        for _ in range(processes):
            ours, theirs = Pipe()
            process = SpawnProcess(target=simulated, args=(theirs, rate), daemon=True)
            process.start()
            self.lines.append(ours)
            self.processes.append(process)
            self.outboxes.append(SimpleQueue())
            Thread(target=_write, args=(ours, self.outboxes[-1]), daemon=True).start()
        self.started = 0
        self.greetings: list[tuple[int, Event]] = []

    def size(self) -> int:
        return self.workers

    def start(self) -> int:
        self.started += 1
        self.greetings.append((self.started, Hello(Fake.card.identity, {})))
        return self.started

    def send(self, worker: int, requests: Mapping[str, Request]) -> None:
        message = pickle.dumps((worker, dict(requests)), pickle.HIGHEST_PROTOCOL)
        self.outboxes[worker % len(self.lines)].put(message)

    def events(self, seconds: float) -> Iterator[tuple[int, Event]]:
        if self.greetings:
            greetings, self.greetings = self.greetings, []
            yield from greetings
            return
        for line in wait(self.lines, seconds):
            assert isinstance(line, Connection)
            worker, content = line.recv()
            yield worker, pickle.loads(content)

    def stop(self, worker: int) -> None:
        raise RuntimeError("simulated workers do not stop")

    def close(self) -> None:
        for outbox in self.outboxes:
            outbox.put(pickle.dumps(None))


def _write(line: Connection, outbox: SimpleQueue[bytes]) -> None:
    """The driver never waits for a pipe that is full."""
    while True:
        line.send_bytes(outbox.get())


def simulate(requests: int, workers: int, rate: float) -> None:
    crew = Simulated(workers, 4, rate)
    pool = Pool(Fake(), crew, {}, 3600.0)
    wall, cpu = asked(pool, requests)
    pool.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    ideal = requests * TOKENS / rate / workers
    print(
        f"{requests} {workers} {rate:.0f} wall {wall:.1f} cpu {cpu:.1f} ideal {ideal:.1f} "
        f"peak {peak} windows {pool.happened.windows}"
    )


def compared(counts: Sequence[int], workers: int, rate: float) -> None:
    """Each count in a process of its own, so that memory can be compared."""
    peaks = []
    for count in counts:
        command = [sys.executable, "-m", "bench.cluster", "one"]
        command += ["--requests", str(count), "--workers", str(workers), "--rate", str(rate)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        print(said.strip(), f"load {os.getloadavg()[0]:.1f}", flush=True)
        peaks.append(int(said.split("peak ")[1].split()[0]))
    growth = (peaks[-1] - peaks[0]) / (counts[-1] - counts[0])
    print(f"memory of the driver grows by {growth:.0f} bytes per request")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("ceiling", "simulate", "one"))
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=50.0, help="tokens per second of one worker")
    options = parser.parse_args()
    if options.what == "ceiling":
        ceiling(options.requests)
    elif options.what == "one":
        simulate(options.requests, options.workers, options.rate)
    else:
        compared((100_000, options.most), options.workers, options.rate)


if __name__ == "__main__":
    main()
