"""Runs of each kind of result, as they are stored."""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer
from tests.builders.kinds import one_of_each


@pytest.fixture(scope="session")
def every(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each kind, under its name."""
    return one_of_each(tmp_path_factory.mktemp("every"))


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CATs and pairs of the starter set."""
    folder = tmp_path_factory.mktemp("runs")
    stereometer.run("starter", model="fake", out=folder, resamples=100, cache=False)
    return folder


@pytest.fixture(scope="session")
def cats(runs: Path) -> Path:
    return runs / "starter-fake-cat-pseudo-likelihood"


@pytest.fixture(scope="session")
def pairs(runs: Path) -> Path:
    return runs / "starter-fake-pair-likelihood"


@pytest.fixture(scope="session")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on CATs whose texts are held back."""
    folder = tmp_path_factory.mktemp("hidden")
    shape = "cat"
    benchmark = stereometer.open_benchmark("starter")
    from stereometer.core import catalog

    file = catalog.shape(shape).write(folder / "held.json", benchmark.items(shape), hidden=True)  # type: ignore[attr-defined]
    stereometer.run(
        "custom", data=file, model="fake", out=folder / "run", resamples=100, cache=False
    )
    return folder / "run"
