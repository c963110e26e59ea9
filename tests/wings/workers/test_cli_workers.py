"""Options for workers: what they say, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stereometer.core.runs.open import model_spec
from stereometer.core.types import ModelSpec
from stereometer.wings.workers.choice import Processes, threads_for, worker_spec
from tests.builders.commands import call

RUN = ("run", "starter", "-m", "fake", "--resamples", "200")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--workers", "0"), "0 workers can answer nothing"),
        (("--workers", "-2"), "-2 workers can answer nothing"),
        (("--workers", "many"), "is not understood"),
        (("--workers", "2", "--gpus-per-worker", "3"), "want 6 GPUs, and this machine has 0"),
        (("--workers", "2", "--gpus-per-worker", "-1"), "make no sense"),
        (("--gpus-per-worker", "1"), "without --workers"),
        (("--workers", "2", "--worker-timeout", "0"), "No worker answers in 0 s"),
        (("--workers", "ray://nowhere"), "is not the address of a Ray cluster"),
    ],
)
def test_bad_input_is_refused_with_its_reason(options: tuple[str, ...], says: str) -> None:
    if "Ray" in says:
        pytest.importorskip("ray", reason="Ray is not installed")
    said = call(*RUN, *options)
    assert said.code == 2
    assert says in said.err


def test_ray_that_is_not_installed_comes_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "stereometer.wings.workers.actors", raising=False)
    said = call(*RUN, "--workers", "ray")
    assert said.code == 2
    assert "pip install '.[ray]'" in said.err


@pytest.mark.parametrize(
    ("workers", "environment"), [("ray://127.0.0.1:9", ""), ("ray", "127.0.0.1:9")]
)
def test_a_cluster_that_is_not_there_is_said_to_be(
    workers: str, environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody listens there. Ray itself would go on trying."""
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", environment)
    said = call(*RUN, "--workers", workers)
    assert said.code == 1
    assert f"No Ray cluster answers at {environment or workers}: Connection refused" in said.err
    assert "ray start --head" in said.err


def test_a_dry_run_says_what_each_worker_gets() -> None:
    plans = call(*RUN, "--workers", "4", "--dry-run", "--json").json["plans"]
    for plan in plans:
        assert plan["workers"] == 4
        assert plan["requests_each"] == -(-plan["distinct"] // 4)
        assert plan["tokens_each"] == -(-plan["tokens"] // 4)
        assert plan["seconds"] >= 0
    said = call(*RUN, "--workers", "4", "--dry-run")
    assert "each worker: about 360 requests" in said.out


def test_a_dry_run_of_a_part_counts_its_items_only() -> None:
    (cats, pairs) = call(*RUN, "--shard", "1/3", "--dry-run", "--json").json["plans"]
    assert (cats["items"], pairs["items"]) == (160, 144)


@pytest.mark.long
def test_ask_and_the_trait_grid_take_workers_too(tmp_path: Path) -> None:
    chosen = ("--groups", "man,woman", "--templates", "singular", "--measure", "ilps")
    for name, arguments in {
        "ask": ("ask", "starter", "-m", "fake"),
        "abc": ("run", "abc", "-m", "fake", *chosen),
    }.items():
        for workers in ((), ("--workers", "2")):
            place = tmp_path / f"{name}{len(workers)}"
            more = ("--out", str(place), "--no-cache", "--resamples", "200")
            assert call(*arguments, *workers, *more).code == 0
        files = sorted((tmp_path / f"{name}0").rglob("*.*"))
        compared = [file for file in files if file.name in ("result.json", "scores.jsonl")]
        assert compared
        for file in compared:
            other = tmp_path / f"{name}2" / file.relative_to(tmp_path / f"{name}0")
            assert other.read_bytes() == file.read_bytes()


def test_threads_are_divided_among_workers() -> None:
    assert [threads_for(workers, 8) for workers in (1, 2, 3, 16)] == [8, 4, 2, 1]


def test_a_worker_gets_its_gpus_as_a_device() -> None:
    from stereometer.models.local.checkpoint import LoadingOptions

    spec = ModelSpec("m:o", "x", LoadingOptions())
    devices = [worker_spec(spec, 1, gpus).options.device for gpus in (0, 1, 2)]
    assert devices == ["cpu", "cuda", "gpus"]


def test_workers_share_the_gpus_that_this_process_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = model_spec("fake", 0, {})
    for given, names in (("", ["0,1", "2,3"]), ("4,5,6,7", ["4,5", "6,7"])):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
        crew = Processes(spec, workers=2, threads=1, gpus=2)
        assert [crew._environment(at)["CUDA_VISIBLE_DEVICES"] for at in (0, 1)] == names
