"""The FILE of `MODEL+FILE` is put onto the model by the wrapper that recognises it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from stereometer.core import catalog
from stereometer.core.errors import ModelError
from stereometer.core.types import Backend, Wrapper
from stereometer.models.local.checkpoint import LoadingOptions
from stereometer.models.local.opener import CHECKPOINT
from tests.builders.models.zoo import Zoo

OPTIONS = LoadingOptions(threads=1)


class Remark(Wrapper):
    """Says on the card what stands in a text file, and changes nothing else."""

    layout = 1

    def recognises(self, path: Path) -> bool:
        return path.suffix == ".txt"

    def wrap(self, base: Any, path: Path) -> Backend:
        return self.describe(base, path.parent)

    def is_in(self, folder: Path) -> bool:
        return (folder / "remark.txt").exists()

    def describe(self, model: Any, folder: Path) -> Backend:
        model.notes.append((folder / "remark.txt").read_text())
        wrapped: Backend = model
        return wrapped


REMARK = Remark()


@pytest.fixture
def remark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file for the wrapper of another package."""
    monkeypatch.setitem(catalog.TABLE["wrapper"], "remark", f"{__name__}:REMARK")
    file = tmp_path / "remark.txt"
    file.write_text("It was told to be calm.")
    return file


@pytest.mark.usefixtures("at_rest")
def test_another_packages_wrapper_takes_its_own_files(zoo: Zoo, remark: Path) -> None:
    base = str(zoo.folder("bert"))
    card = CHECKPOINT.open(f"{base}+{remark}", OPTIONS).card
    assert "It was told to be calm." in card.notes
    wrapped, bare = (CHECKPOINT.fingerprint(spec, OPTIONS) for spec in (f"{base}+{remark}", base))
    assert wrapped != bare


def test_a_folder_may_say_what_is_in_its_weights(zoo: Zoo, remark: Path) -> None:
    folder = shutil.copytree(zoo.folder("bert"), remark.parent / "told")
    shutil.copy(remark, folder)
    assert "It was told to be calm." in CHECKPOINT.open(str(folder), OPTIONS).card.notes


def test_other_files_are_left_to_the_first_wrapper(zoo: Zoo, remark: Path) -> None:
    other = remark.with_suffix(".safetensors")
    other.write_bytes(b"nothing")
    with pytest.raises(ModelError, match="is not a mitigation that can be used"):
        CHECKPOINT.open(f"{zoo.folder('bert')}+{other}", OPTIONS)


def test_without_a_wrapper_nothing_is_put_onto_a_model(
    zoo: Zoo, remark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(catalog.TABLE, "wrapper", {})
    with pytest.raises(ModelError, match="Nothing that is installed puts"):
        CHECKPOINT.open(f"{zoo.folder('bert')}+{remark}", OPTIONS)
