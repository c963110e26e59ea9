"""A real model, opened by workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.errors import ModelError
from stereometer.runs.store import load_scores
from tests.builders.models.zoo import Zoo
from tests.unit.backends.local.test_in_memory import loaded

QUICK: dict[str, Any] = {"measure": "pair-likelihood", "resamples": 100, "cache": False}


def test_workers_give_the_numbers_of_a_serial_run(zoo: Zoo, tmp_path: Path) -> None:
    for name, workers in (("serial", None), ("workers", 2)):
        more = {"workers": workers, "threads": 2, "out": tmp_path / name, **QUICK}
        stereometer.run("starter", model=zoo.folder("bert"), **more)
    serial, workers_gave = (list(load_scores(tmp_path / name)) for name in ("serial", "workers"))
    assert len(serial) == 96
    for ours, theirs in zip(serial, workers_gave, strict=True):
        assert ours.values.keys() == theirs.values.keys()
        for name, value in ours.values.items():
            assert value == pytest.approx(theirs.values[name], abs=1e-5 * 20)


def test_a_model_in_memory_cannot_be_given_to_workers(zoo: Zoo) -> None:
    with pytest.raises(ModelError, match="Another process cannot open it"):
        stereometer.run("starter", model=loaded(zoo, "bert"), workers=2, limit=4, **QUICK)
