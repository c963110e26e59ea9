"""Runs that a board is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer
from stereometer.wings.board.bundle import write_bundle as submit


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CATs and pairs of the starter set by two baselines and an ideal, and CATs as `paper`."""
    home = tmp_path_factory.mktemp("runs")
    for model in ("fake", "random", "ideal"):
        stereometer.run("starter", model=model, resamples=100, out=home, cache=False)
    stereometer.run(
        "starter",
        model="fake",
        measure="cat-pseudo-likelihood",
        variant="paper",
        resamples=100,
        out=home,
        cache=False,
    )
    return home


@pytest.fixture(scope="session")
def bundle(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CATs by the fake model, as a folder."""
    return submitted(runs, "fake", tmp_path_factory.mktemp("bundles") / "fake")


@pytest.fixture(scope="session")
def ideal_bundle(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CATs by the system that reads the gold labels."""
    return submitted(runs, "ideal", tmp_path_factory.mktemp("bundles") / "ideal")


def submitted(runs: Path, model: str, place: Path) -> Path:
    submit(runs / f"starter-{model}-cat-pseudo-likelihood", place)
    return place
