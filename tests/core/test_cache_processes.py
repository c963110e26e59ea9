"""Several processes at one cache, and one that is killed at work."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from array import array
from pathlib import Path

from stereometer.core.runs.cache import Cache
from stereometer.core.types import Answer

BATCH = 40

WRITER = """
import sys
from array import array
from pathlib import Path
from stereometer.core.runs.cache import Cache
from stereometer.core.types import Answer
path, name, batches = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with Cache(path) as cache:
    for batch in range(batches):
        rows = {number: {"logprob": array("d", [batch, number])} for number in range(40)}
        answers = {f"{name} {batch} {number}": Answer((row,)) for number, row in rows.items()}
        cache.put("model", answers)
        print(batch, flush=True)
"""


def writer(path: Path, name: str, batches: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(batches)],
        stdout=subprocess.PIPE,
        text=True,
    )


def batch(name: str, number: int) -> dict[str, Answer]:
    return {
        f"{name} {number} {one}": Answer(({"logprob": array("d", [number, one])},))
        for one in range(BATCH)
    }


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    Cache(tmp_path / "c").close()
    names = ("a", "b", "c", "d")
    at_work = [writer(tmp_path / "c", name, 25) for name in names]
    for one in at_work:
        one.communicate()
    assert [one.returncode for one in at_work] == [0] * len(names)
    expected = {
        key: value
        for name in names
        for number in range(25)
        for key, value in batch(name, number).items()
    }
    with Cache(tmp_path / "c") as cache:
        assert cache.get("model", list(expected)) == expected
    assert not list(tmp_path.glob("*.broken-*"))


def test_a_cache_that_another_process_is_just_beginning_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "c", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    other.execute("CREATE TABLE anything (x)")
    later = threading.Timer(0.2, other.execute, ["COMMIT"])
    later.start()
    try:
        Cache(tmp_path / "c").close()
    finally:
        later.join()
        other.close()


def test_a_kill_leaves_a_healthy_cache_of_whole_batches(tmp_path: Path) -> None:
    for attempt, pause in enumerate((0.0, 0.004, 0.017)):
        at_work = writer(tmp_path / "c", str(attempt), 10_000)
        assert at_work.stdout is not None
        for _ in range(5):
            at_work.stdout.readline()
        time.sleep(pause)
        at_work.send_signal(signal.SIGKILL)
        told = 4 + len(at_work.stdout.read().split())
        at_work.wait()
        at_work.stdout.close()
        assert_whole(tmp_path / "c", str(attempt), told)
    assert not list(tmp_path.glob("*.broken-*"))


def assert_whole(path: Path, name: str, told: int) -> None:
    """Everything that was reported is there, and nothing by halves."""
    with Cache(path) as cache:
        for number in range(told + 3):
            wanted = batch(name, number)
            found = cache.get("model", list(wanted))
            assert found in (wanted, {}) if number > told else found == wanted
