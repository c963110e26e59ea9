"""Default models are known by their weights: a damaged one is refused, and built again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from stereometer.core.errors import ModelError
from stereometer.core.types import digest_of_file
from stereometer.models.local.checkpoint import LoadingOptions
from stereometer.models.local.defaults import MINILM, TRAINED, VARIABLE
from tests.conftest import default_model

pytestmark = pytest.mark.long


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the default model whose last weight has a flipped bit."""
    default_model(MINILM.name)
    whole = MINILM.folder
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    shutil.copytree(whole, MINILM.folder)
    with (MINILM.folder / "model.safetensors").open("r+b") as file:
        file.seek(-2, os.SEEK_END)
        last = file.read(1)
        file.seek(-2, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    return MINILM.folder


def test_what_the_package_adds_is_what_its_digest_says() -> None:
    assert digest_of_file(TRAINED) == MINILM.ours_sha256


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_flipped_bit_is_refused(damaged: Path, dtype: str) -> None:
    with pytest.raises(ModelError, match=r"is no longer minilm-mlm.*model add minilm-mlm"):
        MINILM.load(LoadingOptions(dtype=dtype))


def test_a_cut_file_is_refused_with_the_same_way_out(damaged: Path) -> None:
    os.truncate(damaged / "model.safetensors", 1000)
    with pytest.raises(ModelError, match="model add minilm-mlm"):
        MINILM.load(LoadingOptions())


def test_adding_it_again_mends_it(damaged: Path) -> None:
    if MINILM.source is None:
        pytest.skip(f"{MINILM.requirement} is not installed")
    assert MINILM.add() == damaged
    assert MINILM.load(LoadingOptions()).weights == MINILM.weights


def test_a_whole_model_is_left_alone_and_a_wrong_device_is_no_damage() -> None:
    default_model(MINILM.name)
    written = (MINILM.folder / "model.safetensors").stat().st_mtime_ns
    if MINILM.source is not None:
        MINILM.add()
    assert (MINILM.folder / "model.safetensors").stat().st_mtime_ns == written
    with pytest.raises(ModelError, match="device"):
        MINILM.load(LoadingOptions(device="meta"))
