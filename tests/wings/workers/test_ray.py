"""Workers on a real Ray cluster of two nodes on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from stereometer.core.errors import StereometerError, UsageError
from stereometer.wings.workers.choice import Hands
from tests.builders.commands import shell
from tests.builders.faulty import diary
from tests.builders.ports import free_port
from tests.builders.workers import happened, run_with, same_bytes, serial_run, spec_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is an optional part of the package"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]
ROOT = Path(__file__).parents[3]
RAY = Hands(cluster="auto")


def patiently(cluster: Any, **node: Any) -> None:
    """Ray gives a node 30 seconds to start, which a busy machine may need several times."""
    for _ in range(6):
        try:
            cluster.add_node(**node)
            return
        except Exception as error:
            reason = str(error)
    pytest.skip(f"this machine is too busy for Ray: {reason}")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head without work and a node with one CPU; its files and tokens stay out of the user's
    home."""
    patch = pytest.MonkeyPatch()
    patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    patch.setenv("RAY_AUTH_MODE", "disabled")
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))
    import ray
    from ray.cluster_utils import Cluster

    made: Any = Cluster()
    patiently(made, num_cpus=0, include_dashboard=False)
    patiently(made, num_cpus=1)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()
    patch.undo()


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return serial_run(tmp_path_factory.mktemp("serial"))


def asked(folder: Path) -> list[int]:
    """The processes that answered windows, in order."""
    return [line["pid"] for line in diary(folder) if line["did"].startswith("asked")]


def test_actors_give_the_bytes_of_a_serial_run(cluster: Any, tmp_path: Path, serial: Path) -> None:
    finished = run_with(spec_of(tmp_path / "w"), tmp_path / "run", RAY)
    assert same_bytes(finished.folder, serial)
    assert os.getpid() not in asked(tmp_path / "w")


def test_an_actor_that_is_killed_is_replaced(cluster: Any, tmp_path: Path, serial: Path) -> None:
    folder = tmp_path / "w"
    spec = spec_of(folder, "killed", times=2)
    finished = run_with(spec, tmp_path / "run", RAY)
    assert same_bytes(finished.folder, serial)
    assert happened(finished.folder)["lost"] in (1, 2)  # the run may end before the second falls


def exchange_node(cluster: Any, folder: Path) -> None:
    """The only node that works goes while it does; then another joins."""
    while len(asked(folder)) < 4:
        time.sleep(0.05)
    (node,) = cluster.worker_nodes
    cluster.remove_node(node)
    patiently(cluster, num_cpus=1)


def test_a_node_goes_and_another_joins(
    cluster: Any, tmp_path: Path, serial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stereometer.wings.workers.crew.LARGEST_WINDOW", 64)  # many windows
    monkeypatch.setattr("stereometer.wings.workers.crew.SMALLEST_WINDOW", 64)
    spec = spec_of(tmp_path / "w", "slow")
    with ThreadPoolExecutor(1) as beside:  # Ray starts nodes in the main thread only
        running = beside.submit(run_with, spec, tmp_path / "run", RAY)
        exchange_node(cluster, tmp_path / "w")
        finished = running.result()
    assert same_bytes(finished.folder, serial)
    assert happened(finished.folder)["lost"] >= 1
    assert len(set(asked(tmp_path / "w"))) >= 2


def test_more_gpus_than_the_cluster_has_are_refused(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no machine of the cluster has more than 0"):
        run_with(spec_of(tmp_path / "w"), tmp_path / "run", Hands(cluster="auto", gpus=2))


@contextmanager
def head(port: int, folder: Path) -> Iterator[None]:
    """A cluster as `ray start --head` makes it, that listens for clients."""
    where = ["--port", "0", "--ray-client-server-port", str(port), "--temp-dir", str(folder)]
    command = ["start", "--head", "--block", "--num-cpus", "1", "--include-dashboard=false", *where]
    running = subprocess.Popen(
        [sys.executable, "-m", "ray.scripts.scripts", *command],
        env=os.environ | {"HOME": str(folder), "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        running.terminate()
        running.wait()


def test_a_client_outside_the_cluster_gets_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("grpc", reason="Ray's client needs grpcio")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    port = free_port()
    measured = ("run", "starter", "-m", "fake", "--no-cache", "--out")
    assert shell(*measured, tmp_path / "here").code == 0
    with tempfile.TemporaryDirectory() as folder, head(port, Path(folder)):
        outside = (*measured, tmp_path / "outside", "--workers", f"ray://127.0.0.1:{port}")
        for _ in range(60):
            said = shell(*outside)
            if "No Ray cluster answers" not in said.err:
                break
            time.sleep(1)
    assert said.code == 0, said.err
    for run in (tmp_path / "here").iterdir():
        assert same_bytes(run, tmp_path / "outside" / run.name)


def test_a_cluster_without_its_head_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tried by hand too: the head ended in mid-run, exit 1 with this message."""
    from stereometer.wings.workers import actors

    crew = object.__new__(actors.Actors)
    crew.head, crew.seen = ("127.0.0.1", free_port()), time.monotonic()
    crew.looked, crew.room, crew.actors, crew.pending = 0.0, 3, {}, {}
    assert crew.size() == 3  # it may come back
    monkeypatch.setattr(actors, "LED", 0.0)
    crew.looked = 0.0
    with pytest.raises(StereometerError, match="head of the Ray cluster no longer answers"):
        crew.size()


def test_a_request_to_end_is_heard_by_us_and_not_by_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tried by hand too: SIGTERM to the driver gives 130 and "interrupted"."""
    import ray

    from stereometer.wings.workers import actors

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **_: signal.signal(signal.SIGTERM, signal.SIG_IGN))
    before = signal.getsignal(signal.SIGTERM)
    assert actors._connect("auto")
    assert signal.getsignal(signal.SIGTERM) is before
