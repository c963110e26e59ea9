"""Folders of models that mean harm: none runs code, hangs or measures something else in silence.

Extra layers, cut weights and pickles of plain weights stand with the models that are only bad.
"""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from safetensors import safe_open
from safetensors.torch import load_file

from stereometer.core.errors import ModelError
from stereometer.core.runs.open import open_model
from stereometer.core.types import Generate
from stereometer.models.local import checks
from stereometer.models.local.causal import Causal
from stereometer.models.local.checkpoint import LoadingOptions, load
from stereometer.models.local.files import fingerprint
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


def sharded(folder: Path, name: str) -> Path:
    """The weights under another name, which an index names."""
    weights, shard = folder / "model.safetensors", folder / name
    with safe_open(weights, framework="np") as file:
        named = dict.fromkeys(file.keys(), name)
    shard.parent.mkdir(exist_ok=True)
    if name.endswith((".bin", ".json")):
        torch.save(load_file(weights), shard)
        weights.unlink()
    else:
        weights.rename(shard)
    index = {"metadata": {"total_size": 1}, "weight_map": named}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return shard


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("w.bin", ("w.bin", "can run code when loaded", "--allow-pickle")),
        ("w.json", ("w.json", "can run code when loaded", "--allow-pickle")),
        ("../w.safetensors", ("outside its folder", "../w.safetensors")),
    ],
)
def test_an_index_that_names_what_is_not_to_be_loaded(
    zoo: Zoo, tmp_path: Path, name: str, words: tuple[str, ...]
) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    sharded(folder, name)
    assert_refused(run(folder), MODEL_ERROR, *words)


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("name", [".hidden/w.safetensors", "inner/w.safetensors", "linked"])
def test_whatever_is_loaded_is_in_the_fingerprint(zoo: Zoo, tmp_path: Path, name: str) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    if name == "linked":
        shard = (folder / "model.safetensors").rename(tmp_path / "elsewhere.safetensors")
        (folder / "model.safetensors").symlink_to(shard)
    else:
        shard = sharded(folder, name)
        (shard.parent / "config.json").write_text("{}")  # looks like another model's folder
    open_model(str(folder))
    before = fingerprint(str(folder), LoadingOptions())
    shard.write_bytes(shard.read_bytes()[:-1] + b"\1")
    assert before != fingerprint(str(folder), LoadingOptions())


@pytest.mark.usefixtures("at_rest")
def test_a_link_to_everything_is_not_read_through(zoo: Zoo, tmp_path: Path) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    before = fingerprint(str(folder), LoadingOptions())
    (folder / "all").symlink_to("/")
    assert fingerprint(str(folder), LoadingOptions()) == before


@pytest.mark.parametrize(
    "adapter",
    [{"base_model_name_or_path": "../bert"}, {"base_model_name_or_path": "org/name"}],
)
def test_an_adapter_of_something_else_or_in_a_pickle(
    zoo: Zoo, tmp_path: Path, adapter: dict[str, str]
) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    (folder / "adapter_config.json").write_text(json.dumps(adapter))
    words = ("outside",) if "../bert" in adapter.values() else ("adapter_model.bin",)
    assert_refused(run(folder), MODEL_ERROR, *words)


@pytest.mark.parametrize("count", ["num_hidden_layers", "n_routed_experts"])
def test_more_layers_than_there_are_weights_are_not_built(
    zoo: Zoo, tmp_path: Path, count: str
) -> None:
    folder = changed_config(copied(zoo, "bert", tmp_path / "m"), **{count: 10**7})
    assert_refused(run(folder), MODEL_ERROR, "no usable weights", count)


# ------------------------------------------------------------------------------------ programs


Change = Callable[[dict[str, Any]], None]


def replacing(part: str, pattern: dict[str, str], size: int) -> Change:
    def change(tokenizer: dict[str, Any]) -> None:
        tokenizer[part] = {"type": "Replace", "pattern": pattern, "content": "b" * size}

    return change


def repeating(tokenizer: dict[str, Any]) -> None:
    again = {"type": "Replace", "pattern": {"String": "nurse"}, "content": "nurse" * 9}
    tokenizer["normalizer"] = {"type": "Sequence", "normalizers": [again] * 9}


def splitting(tokenizer: dict[str, Any]) -> None:
    pattern = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated"}
    tokenizer["pre_tokenizer"] = pattern | {"invert": False}


TOKENIZERS: dict[str, tuple[Change, str]] = {
    "a letter becomes many": (
        replacing("normalizer", {"String": "a"}, 100), "characters or tokens of"
    ),
    "any letter is read as many": (
        replacing("decoder", {"Regex": "."}, 100), "characters or tokens of"
    ),
    "a word becomes megabytes": (
        replacing("normalizer", {"String": "nurse"}, 5_000_000), "in the place of one token"
    ),
    "a word becomes more at every step": (repeating, "in the place of one token"),
    "a token of megabytes": (
        lambda one: one["model"]["vocab"].update({"b" * 5_000_000: 2}), "in the place of one token"
    ),
    "an id of ten to the nine": (lambda one: one["model"]["vocab"].update(zz=10**9), "memory"),
    "a pattern that tries every division": (splitting, "Regex search error"),
    "more special tokens than are soon added": (
        lambda one: one.update(extra_special_tokens=[f"x{at}" for at in range(300_000)]), "an end"
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "written"),
    [
        *((name, "tokenizer.json") for name in [*TOKENIZERS][:-1]),
        ("a letter becomes many", "tokenizer.4.0.0.json"),
        ([*TOKENIZERS][-1], "tokenizer_config.json"),
    ],
)
def test_a_tokenizer_that_would_fill_or_end_the_process(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, written: str
) -> None:
    change, words = TOKENIZERS[name]
    folder = copied(zoo, "bert", tmp_path / "m")
    file = folder / written
    content = json.loads((file if file.exists() else folder / "tokenizer.json").read_text())
    change(content)
    file.write_text(json.dumps(content))
    if words == "an end":
        monkeypatch.setattr(checks, "PATIENCE", 8.0)
    assert_refused(run(folder), MODEL_ERROR, "has a tokenizer that cannot be used", words)


TEMPLATES = {
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}": "an end",
    "{{ 'x' * 10**10 }}": "memory",
    "{% set n = namespace(a='x' * 999) %}{% for i in range(60) %}{% set n.a = n.a + n.a %}"
    "{% endfor %}{{ n.a }}": "memory",
    "{{ 'x' * 10**7 }}": "characters of a prompt",
}


@pytest.mark.long
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("limited", [True, False])
def test_a_template_that_hangs_or_fills_the_memory(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch, template: str, limited: bool
) -> None:
    """Also where the system limits no memory: the parent watches."""
    checkpoint = load(str(zoo.folder("gpt2")))  # within the usual limits, also where all is busy
    if "range(99999)" in template:
        monkeypatch.setattr(checks, "PATIENCE", 4.0)
    if not limited:
        monkeypatch.setattr(checks, "MEMORY", 2**28)
        monkeypatch.setattr(checks, "LIMITED", False)
    checkpoint.tokenizer.chat_template = template
    request = Generate(messages=(("user", "hi"),), max_tokens=2)
    with pytest.raises(ModelError, match=TEMPLATES[template]):
        dict(Causal(checkpoint).answer({"a": request}))


@pytest.mark.parametrize("size", ["vocab_size", "max_position_embeddings"])
def test_a_configuration_of_another_size(zoo: Zoo, tmp_path: Path, size: str) -> None:
    folder = changed_config(copied(zoo, "bert", tmp_path / "m"), **{size: 10})
    assert_refused(run(folder), MODEL_ERROR, "could not be loaded")
