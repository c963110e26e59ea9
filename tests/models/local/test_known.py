"""A finished run is known again by the model's files: no model is loaded to find it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

import stereometer
from stereometer.core.errors import ModelError
from stereometer.core.runs.open import open_model
from stereometer.core.types import digest_of_file
from stereometer.core.types.opener import Record
from stereometer.models.local.checkpoint import LoadingOptions, load
from stereometer.models.local.files import fingerprint
from stereometer.models.local.opener import CHECKPOINT
from tests.builders.commands import call
from tests.builders.models.builders import build

pytestmark = pytest.mark.usefixtures("at_rest")
QUICK = ("--resamples", 200)
SMALL = 200_000
"""Bytes of tokenizer files and names of weights."""


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return build("bert", tmp_path / "bert")


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that were loaded."""
    loaded: list[str] = []

    def watched(spec: str, *options: Any) -> Any:
        loaded.append(spec)
        return load(spec, *options)

    monkeypatch.setattr("stereometer.models.local.opener.load", watched)
    return loaded


def run(model: Path, out: Path, *more: object) -> Any:
    said = call("run", "starter", "-m", model, "--limit", 3, "--out", out, *QUICK, *more)
    assert said.code == 0, said.err
    return said


def test_a_finished_run_loads_no_model(tmp_path: Path, bert: Path, loads: list[str]) -> None:
    first = run(bert, tmp_path / "runs")
    assert len(loads) == 1
    assert run(bert, tmp_path / "runs").out == first.out
    stereometer.run("starter", model=bert, limit=3, resamples=200, out=tmp_path / "runs")
    assert len(loads) == 1


def test_weights_are_hashed_once_and_those_of_a_finished_run_never(
    tmp_path: Path, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = hashed_bytes(monkeypatch)
    run(bert, tmp_path / "runs")
    weights = sum(value.nbytes for value in load(str(bert)).model.state_dict().values())
    assert weights <= sum(hashed) < weights + SMALL
    hashed.clear()
    run(bert, tmp_path / "runs")
    assert not hashed


def hashed_bytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of all that is hashed of a model: parts of its weights, and whole files."""
    hashed: list[int] = []

    class Digest:
        def __init__(self, *parts: Any) -> None:
            self.inner = hashlib.sha256(*parts)

        def update(self, part: Any) -> None:
            hashed.append(memoryview(part).nbytes)
            self.inner.update(part)

        def hexdigest(self) -> str:
            return self.inner.hexdigest()

    def of_file(path: Path) -> str:
        hashed.append(path.stat().st_size)
        return digest_of_file(path)

    monkeypatch.setattr("stereometer.models.local.files.sha256", Digest)
    monkeypatch.setattr("stereometer.models.local.checks.digest_of_file", of_file)
    monkeypatch.setattr("stereometer.models.local.defaults.digest_of_file", of_file)
    return hashed


@pytest.mark.parametrize("how", ["in place", "another file"])
def test_old_times_and_the_old_size_hide_no_change(bert: Path, how: str) -> None:
    weights = bert / "model.safetensors"
    before, times = fingerprint(str(bert), LoadingOptions()), weights.stat()
    changed = weights.read_bytes()[:-1] + b"\1"
    if how == "another file":
        weights.rename(bert.parent / "old")
    weights.write_bytes(changed)
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert weights.stat().st_size == times.st_size
    assert fingerprint(str(bert), LoadingOptions()) not in (before, None)


def test_files_that_are_being_written_are_not_known(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another change in the same tick of a file system's clock would not show."""
    monkeypatch.setattr("stereometer.models.local.files.AT_REST", 10**15)
    assert fingerprint(str(bert), LoadingOptions()) is None


def test_a_model_that_is_exchanged_while_it_is_loaded_is_not_recorded(
    bert: Path, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = CHECKPOINT.open

    def exchanging(spec: str, *options: Any) -> Any:
        model = inner(spec, *options)
        (bert / "config.json").write_text((bert / "config.json").read_text() + " ")
        return model

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(type(CHECKPOINT), "open", lambda _, *parts: exchanging(*parts))
        open_model(str(bert), when_asked=True)
    open_model(str(bert), when_asked=True)
    assert len(loads) == 2


def test_another_run_of_a_known_model_loads_it(
    tmp_path: Path, bert: Path, loads: list[str]
) -> None:
    run(bert, tmp_path / "runs")
    run(bert, tmp_path / "others", "--measure", "pair-likelihood", "--no-cache")
    assert len(loads) == 2


def test_other_weights_are_another_model(tmp_path: Path, bert: Path, loads: list[str]) -> None:
    run(bert, tmp_path / "runs")
    weights = bert / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-3] ^= 1
    weights.write_bytes(changed)
    said = call("run", "starter", "-m", bert, "--limit", 3, "--out", tmp_path / "runs", *QUICK)
    assert len(loads) == 2
    assert said.code == 2
    assert "other settings (identity)" in said.err


@pytest.mark.parametrize("change", ["config.json", "tokenizer.json"])
def test_every_file_counts(tmp_path: Path, bert: Path, loads: list[str], change: str) -> None:
    run(bert, tmp_path / "runs")
    with (bert / change).open("a") as file:
        file.write("\n")
    run(bert, tmp_path / "runs")
    assert len(loads) == 2


def test_options_are_part_of_what_is_known(tmp_path: Path, bert: Path, loads: list[str]) -> None:
    run(bert, tmp_path / "runs")
    run(bert, tmp_path / "half", "--dtype", "float64")
    assert len(loads) == 2


def test_an_adapter_is_loaded_each_time(tmp_path: Path, bert: Path, loads: list[str]) -> None:
    """Its base model lies somewhere else and may have changed."""
    assert CHECKPOINT.fingerprint(str(bert), CHECKPOINT.options())
    (bert / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "x"}))
    assert CHECKPOINT.fingerprint(str(bert), CHECKPOINT.options()) is None


def test_remote_code_is_loaded_each_time(bert: Path) -> None:
    trusting = CHECKPOINT.options(trust_remote_code=True)
    assert CHECKPOINT.fingerprint(str(bert), trusting) is None


def test_a_name_on_the_hub_is_known_by_its_cached_files(
    tmp_path: Path, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    home, commit = tmp_path / "hub" / "models--org--small", "a" * 40
    shutil.copytree(bert, home / "snapshots" / commit)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(commit)

    def known(spec: str) -> str | None:
        return CHECKPOINT.fingerprint(spec, CHECKPOINT.options())

    assert known("org/small")
    assert known(f"org/small@{commit}")
    assert open_model("org/small").card.settings["commit"] == commit
    assert open_model("org/small").card.identity == open_model(str(bert)).card.identity
    assert known("org/large") is None
    assert known(f"org/small@{'b' * 40}") is None


def test_files_that_change_under_way_are_an_error(bert: Path) -> None:
    open_model(str(bert), when_asked=True)
    model: Any = open_model(str(bert), when_asked=True)
    config = json.loads((bert / "config.json").read_text())
    (bert / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 0.1}))
    with pytest.raises(ModelError, match="not the model it was"):
        model.encode("A sentence.")


def test_what_another_version_recorded_is_looked_at_again(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stereometer.core.runs import open as known

    def otherwise(record: Record) -> dict[str, Any]:
        return asdict(replace(record, card=replace(record.card, settings={"older": True})))

    with monkeypatch.context() as before:
        before.setattr(known, "asdict", otherwise)
        open_model(str(bert), when_asked=True)
    model: Any = open_model(str(bert), when_asked=True)
    with pytest.raises(ModelError, match=r"or stereometer was\. Run it again"):
        model.encode("A sentence.")
    model = open_model(str(bert), when_asked=True)
    assert model.encode("A sentence.").ids


def test_a_record_that_cannot_be_read_is_no_record(
    bert: Path, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from stereometer.core.runs import open as known

    open_model(str(bert), when_asked=True)

    def unread(*_: object) -> NoReturn:
        raise ValueError("it: another layout")

    monkeypatch.setattr(known, "typed", unread)
    open_model(str(bert), when_asked=True)
    assert len(loads) == 2
