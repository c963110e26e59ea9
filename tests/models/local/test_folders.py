"""Folders that we write are what the architecture itself writes: any tool finds every weight."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from stereometer.models.local.checkpoint import load
from stereometer.models.local.defaults import DEFAULT_MODELS
from stereometer.models.local.files import write_folder
from tests.builders.models.zoo import Zoo
from tests.conftest import default_model

IDS = torch.tensor([[2, 7, 8, 9, 10, 3]])
WEIGHTS = "model.safetensors"


def assert_found_by_any_tool(folder: Path, model: Any, work: Path) -> None:
    """The names are those of `save_pretrained`, the input embeddings are there under their own, and
    nothing is lost where a matrix that is tied to another stands in no file."""
    kept = load_file(folder / WEIGHTS)
    type(model).from_pretrained(folder).save_pretrained(work)
    assert kept.keys() == load_file(work / WEIGHTS).keys()
    embeddings = model.get_input_embeddings()
    assert (
        next(name for name, part in model.named_modules() if part is embeddings) + ".weight" in kept
    )
    tied = model._tied_weights_keys if model.config.tie_word_embeddings else {}
    bare = {name: value for name, value in kept.items() if name not in (tied or {})}
    save_file(bare, work / WEIGHTS, metadata={"format": "pt"})
    with torch.no_grad():
        again = type(model).from_pretrained(work).eval()(IDS).logits
        assert torch.equal(again, model(IDS).logits)


@pytest.mark.parametrize("from_gguf", [False, True])
@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "qwen3"])
def test_a_folder_of_any_build(zoo: Zoo, name: str, from_gguf: bool, tmp_path: Path) -> None:
    checkpoint = load(str(zoo.folder(name)))
    if from_gguf:
        checkpoint.model.config.quantization_config = SimpleNamespace(quant_method="gguf")
    write_folder(checkpoint.model, checkpoint.tokenizer, tmp_path / "folder")
    assert load(str(tmp_path / "folder")).weights == checkpoint.weights
    assert_found_by_any_tool(tmp_path / "folder", checkpoint.model, tmp_path / "work")


@pytest.mark.long
@pytest.mark.parametrize("name", DEFAULT_MODELS)
def test_the_folder_of_a_default_model(name: str, tmp_path: Path) -> None:
    model = default_model(name).model
    assert_found_by_any_tool(DEFAULT_MODELS[name].folder, model, tmp_path / "work")
