"""Folders of models that mean harm: none runs code, hangs or measures something else in silence.

Extra layers, cut weights and pickles of plain weights stand with the models that are only bad.
"""

from __future__ import annotations

import json
import os
import pickle
import struct
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from stereometer.runs.open import open_model
from tests.builders.commands import assert_refused
from tests.builders.models.damaged import MODEL_ERROR, changed_config, copied, run
from tests.builders.models.zoo import Zoo


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    return Zoo(tmp_path_factory.mktemp("zoo"))


class Touching:
    """Makes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.file),)


@pytest.mark.parametrize("more", [(), ("--allow-pickle",)])
def test_a_pickle_that_is_a_program_is_not_run(
    zoo: Zoo, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """Not even where pickles are allowed: only weights are read from them."""
    folder, touched = copied(zoo, "bert", tmp_path / "m", "*.safetensors"), tmp_path / "touched"
    raw = pickle.dumps(Touching(touched))
    (folder / "pytorch_model.bin").write_bytes(raw)
    refused = run(folder, *more)
    assert_refused(refused, MODEL_ERROR, str(folder))
    assert "weights_only" not in refused.err, "never advice to switch the guard off"
    assert not touched.exists()
    pickle.loads(raw)
    assert touched.exists(), "it would have been seen"


def test_code_for_a_tokenizer_is_not_run_and_is_named(zoo: Zoo, tmp_path: Path) -> None:
    folder, touched = copied(zoo, "bert", tmp_path / "m"), tmp_path / "touched"
    file = folder / "tokenizer_config.json"
    own = {"auto_map": {"AutoTokenizer": [None, "own.Own"]}}
    file.write_text(json.dumps(json.loads(file.read_text()) | own))
    (folder / "own.py").write_text(f"import os\nos.mkdir({str(touched)!r})\n")
    (note,) = [note for note in open_model(str(folder)).card.notes if "code of its own" in note]
    assert "which was not run" in note
    assert not touched.exists()


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_file_that_is_a_link_to_itself(zoo: Zoo, tmp_path: Path, file: str) -> None:
    folder = copied(zoo, "bert", tmp_path / "m", file)
    (folder / file).symlink_to(file)
    assert_refused(run(folder), MODEL_ERROR, str(folder))


def test_a_folder_that_is_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "m").symlink_to("m")
    assert_refused(run(tmp_path / "m"), MODEL_ERROR, str(tmp_path / "m"))


def test_a_folder_that_holds_itself_is_the_same_model(zoo: Zoo, tmp_path: Path) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    before = open_model(str(folder)).card.identity
    (folder / "again").symlink_to(".")
    assert open_model(str(folder)).card.identity == before


def test_weights_that_are_a_pipe_nobody_writes_to(zoo: Zoo, tmp_path: Path) -> None:
    folder = copied(zoo, "bert", tmp_path / "m", "*.safetensors")
    os.mkfifo(folder / "model.safetensors")
    assert_refused(run(folder), MODEL_ERROR, "holds no weights")


def test_a_header_that_claims_more_than_any_memory(zoo: Zoo, tmp_path: Path) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 2**62) + b"{}")
    assert_refused(run(folder), MODEL_ERROR, "could not be loaded", "damaged")


@pytest.mark.parametrize("size", ["vocab_size", "max_position_embeddings"])
def test_a_configuration_of_another_size(zoo: Zoo, tmp_path: Path, size: str) -> None:
    folder = changed_config(copied(zoo, "bert", tmp_path / "m"), **{size: 10})
    assert_refused(run(folder), MODEL_ERROR, "could not be loaded")
