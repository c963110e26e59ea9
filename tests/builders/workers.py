"""Runs whose requests are answered by workers, and what became of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import stereometer
from stereometer.core.runs.execute import execute_all
from stereometer.core.runs.measure import jobs_for
from stereometer.core.runs.stored import Run
from stereometer.core.types import Backend, ModelSpec, Settings
from stereometer.wings.workers import crew
from stereometer.wings.workers.choice import Hands, WorkerEngines
from tests.builders.faulty import FaultyOptions

PLACE = "tests.builders.faulty:FAULTY"
BYTES = ("result.json", "scores.jsonl")
ITEMS = 96
"""Enough for every window that a test needs."""


def spec_of(folder: Path, fault: str = "", **options: Any) -> ModelSpec:
    folder.mkdir(parents=True, exist_ok=True)
    return ModelSpec(PLACE, "fake", FaultyOptions(fault, str(folder), **options))


def run_with(
    spec: ModelSpec,
    out: Path,
    hands: Hands,
    benchmark: str = "starter",
    measure: str = "pair-likelihood",
    keep: bool = False,
) -> Run:
    """One measure of a benchmark by workers that open `spec`; `keep` for a cache."""
    model = spec.open()
    assert isinstance(model, Backend)
    settings = Settings(resamples=200)
    with WorkerEngines(hands) as engines:
        engines.remember(model, spec)
        jobs = list(jobs_for([benchmark], model, [measure], settings, limit=ITEMS))
        (finished,) = execute_all(jobs, out, keep_cache=keep, engines=engines)
    return finished


def serial_run(out: Path) -> Path:
    """The folder of the same run without workers."""
    stereometer.run(
        "starter",
        model="fake",
        measure="pair-likelihood",
        limit=ITEMS,
        resamples=200,
        cache=False,
        out=out,
    )
    (folder,) = out.iterdir()
    return folder


def same_bytes(first: Path, second: Path) -> bool:
    return all((first / name).read_bytes() == (second / name).read_bytes() for name in BYTES)


def happened(run: Path) -> dict[str, int]:
    workers: dict[str, int] = json.loads((run / "run.json").read_text())["workers"]
    return workers


if __name__ == "__main__":  # a driver that a test can kill: slow workers, many windows
    crew.SMALLEST_WINDOW = crew.LARGEST_WINDOW = 512
    run_with(spec_of(Path(sys.argv[1]), "slow"), Path(sys.argv[2]), Hands(2), keep=True)
