"""Runs that a board is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer


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
