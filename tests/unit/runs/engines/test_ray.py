"""Workers on a real Ray cluster of several nodes on this machine, which really go away."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import stereometer
from stereometer.errors import StereometerError, UsageError
from stereometer.runs.engines.pool.choice import Hands
from tests.builders.faulty import diary
from tests.builders.workers import happened, run_with, same_bytes, spec_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is an optional part of the package"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]
ROOT = Path(__file__).parents[4]
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
    out = tmp_path_factory.mktemp("serial")
    options: dict[str, Any] = {"measure": "pair-likelihood", "resamples": 200, "cache": False}
    stereometer.run("starter", model="fake", out=out, **options)
    return out


def soon(do: Callable[[], None], when: Callable[[], bool]) -> Thread:
    """Does something as soon as a condition holds."""

    def wait() -> None:
        while not when():
            time.sleep(0.01)
        do()

    thread = Thread(target=wait, daemon=True)
    thread.start()
    return thread


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
    assert happened(finished.folder)["lost"] == 2


def test_a_node_that_is_lost_and_another_that_joins(
    cluster: Any, tmp_path: Path, serial: Path
) -> None:
    """The first actor hangs on its second window; then its node goes, and another comes."""
    folder, (node,) = tmp_path / "w", cluster.worker_nodes

    def change() -> None:
        cluster.remove_node(node, allow_graceful=False)
        patiently(cluster, num_cpus=1)

    changing = soon(change, (folder / "hangs-0").exists)
    finished = run_with(spec_of(folder, "hangs"), tmp_path / "run", RAY)
    changing.join()
    assert same_bytes(finished.folder, serial)
    assert happened(finished.folder)["lost"] >= 1
    assert len(set(asked(folder))) >= 2


def test_an_actor_that_is_stopped_from_outside(cluster: Any, tmp_path: Path, serial: Path) -> None:
    folder = tmp_path / "w"
    ending = soon(lambda: os.kill(asked(folder)[-1], signal.SIGKILL), (folder / "hangs-0").exists)
    finished = run_with(spec_of(folder, "hangs"), tmp_path / "run", RAY)
    ending.join()
    assert same_bytes(finished.folder, serial)


def test_more_gpus_than_the_cluster_has_are_refused(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the cluster has 0"):
        run_with(spec_of(tmp_path / "w"), tmp_path / "run", Hands(cluster="auto", gpus=2))


def test_a_cluster_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    import ray

    if ray.is_initialized():
        pytest.skip("this process has a cluster")
    with pytest.raises(StereometerError, match="No Ray cluster answers at ray://127"):
        run_with(spec_of(tmp_path / "w"), tmp_path / "run", Hands(cluster="ray://127.0.0.1:9"))
