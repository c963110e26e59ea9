"""A real model, opened by workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import ModelError
from tests.builders.models.zoo import Zoo
from tests.builders.workers import same_bytes
from tests.models.local.test_in_memory import loaded

QUICK: dict[str, Any] = {"measure": "pair-likelihood", "resamples": 100, "cache": False}


@pytest.mark.long
def test_workers_give_the_bytes_of_a_serial_run(zoo: Zoo, tmp_path: Path) -> None:
    """In other batches: with as many threads for each, a row depends on nothing beside it."""
    for name, workers, threads in (("serial", None, 1), ("workers", 2, 2)):
        more = {"workers": workers, "threads": threads, "out": tmp_path / name, **QUICK}
        stereometer.run("starter", model=zoo.folder("bert"), **more)
    (serial,), (by_workers,) = ((tmp_path / name).iterdir() for name in ("serial", "workers"))
    assert same_bytes(by_workers, serial)


def test_a_model_in_memory_cannot_be_given_to_workers(zoo: Zoo) -> None:
    with pytest.raises(ModelError, match="Another process cannot open it"):
        stereometer.run("starter", model=loaded(zoo, "bert"), workers=2, limit=4, **QUICK)
