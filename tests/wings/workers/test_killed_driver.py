"""A driver that is killed: what it kept is found again, and its workers end with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stereometer.wings.workers.choice import Hands
from stereometer.wings.workers.crew import DEPTH
from tests.builders.faulty import diary
from tests.builders.workers import run_with, same_bytes, serial_run, spec_of

ROOT = Path(__file__).parents[3]
WORKERS = 2
BEFORE = 8
"""Windows that workers have begun when the driver is killed."""


def sizes(folder: Path) -> list[int]:
    """How many requests each window had, in the order in which workers began them."""
    lines = [line["did"] for line in diary(folder)]
    return [int(line.split()[1]) for line in lines if line.startswith("asked")]


def pids(folder: Path) -> set[int]:
    return {line["pid"] for line in diary(folder)}


def killed(folder: Path, out: Path) -> None:
    """A driver with slow workers, killed in the middle."""
    paths = os.pathsep.join([str(ROOT), *sys.path])
    command = [sys.executable, "-m", "tests.builders.workers", str(folder), str(out)]
    driver = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths})
    try:
        while len(sizes(folder)) < BEFORE or len(pids(folder)) < WORKERS:
            assert driver.poll() is None, "the run ended before it could be killed"
            time.sleep(0.02)
    finally:
        driver.kill()
        driver.wait()


def runs(process: int) -> bool:
    command = ["ps", "-o", "stat=", "-p", str(process)]
    state = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


@pytest.mark.long
def test_at_most_what_was_in_flight_is_asked_anew_and_no_worker_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEREOMETER_CACHE", str(tmp_path / "cache"))
    killed(tmp_path / "before", tmp_path / "run")
    workers = pids(tmp_path / "before")
    assert len(workers) == WORKERS
    while any(runs(worker) for worker in workers):  # for ever only if a worker outlives its driver
        time.sleep(0.1)
    finished = run_with(spec_of(tmp_path / "after"), tmp_path / "run", Hands(WORKERS), keep=True)
    counted = json.loads((finished.folder / "run.json").read_text())["asked"]
    first = sizes(tmp_path / "before")
    begun = sum(first[1:])  # the first is asked of two workers
    assert counted["from_cache"] > 0
    assert begun - counted["from_cache"] <= sum(sorted(first)[-WORKERS * DEPTH :])
    assert same_bytes(finished.folder, serial_run(tmp_path / "serial"))
