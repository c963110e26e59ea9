"""A real model, opened by workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import ModelError
from stereometer.core.types import Skip
from stereometer.models.local.checkpoint import LoadingOptions
from stereometer.models.local.opener import CHECKPOINT
from tests.builders.models.builders import BUILDS
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


@pytest.mark.usefixtures("at_rest")
def test_the_driver_loads_no_weights(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for the first run of a model, which a worker describes, nor for another one; a run
    that is finished starts no worker."""
    how: dict[str, Any] = {"model": zoo.folder("bert"), "limit": 4, "workers": 1, "resamples": 100}

    def load(*_: Any) -> None:
        raise AssertionError("the driver loads the model")

    with monkeypatch.context() as driver:
        driver.setattr("stereometer.models.local.opener.load", load)
        for measure in ("pair-likelihood", "cat-likelihood"):
            stereometer.run("starter", measure=measure, out=tmp_path / "workers", **how)
        driver.setattr("stereometer.wings.workers.choice.Process", load)
        stereometer.run("starter", measure="pair-likelihood", out=tmp_path / "workers", **how)
    stereometer.run(
        "starter", measure="pair-likelihood", out=tmp_path / "here", **how | {"workers": None}
    )
    (serial,) = (tmp_path / "here").iterdir()
    assert same_bytes(tmp_path / "workers" / serial.name, serial)


@pytest.mark.parametrize("name", BUILDS)
def test_texts_are_read_without_weights_as_the_model_reads_them(zoo: Zoo, name: str) -> None:
    model, reader = zoo.backend(name), CHECKPOINT.reader(str(zoo.folder(name)), LoadingOptions())
    assert reader is not None
    assert reader.tokenizer_digest == model.card.tokenizer_digest
    for texts in (("The nurse is kind.",), (" Caf\u00e9 M.", "We left."), ("word " * 200,)):
        assert read(reader, *texts) == read(model, *texts)
    ids = model.encode("The nurse is kind.").ids
    assert reader.decode(ids) == model.decode(ids)


def read(model: Any, *texts: str) -> Any:
    try:
        return model.encode(*texts)
    except Skip as skip:
        return skip.reason
