"""`BASE+FOLDER`: an adapter of peft is measured as peft merges it, or refused; the base's numbers
never stand in its place."""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch

from stereometer.core.errors import ModelError
from stereometer.core.runs.open import model_spec, open_model
from stereometer.models.local.adapter import SETTING
from stereometer.models.local.files import ADAPTER, ADAPTER_WEIGHTS, weights_digest
from tests.builders.commands import call
from tests.builders.models.damaged import MODEL_ERROR
from tests.builders.models.zoo import Zoo

peft = pytest.importorskip("peft", reason="peft is an optional part of the package")


def tuned(zoo: Zoo, name: str, folder: Path, config: Any = None, trained: bool = True) -> Any:
    """The base under a little adapter of random numbers, which is written to a folder."""
    base = deepcopy(zoo.checkpoint(name).model)
    turned = {"fan_in_fan_out": name == "gpt2"}
    chosen = config or peft.LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", **turned)
    model = peft.get_peft_model(base, chosen)
    model.peft_config["default"].base_model_name_or_path = str(zoo.folder(name))
    if trained:
        generator = torch.Generator().manual_seed(7)
        with torch.no_grad():
            for weights in (each for each in model.parameters() if each.requires_grad):
                weights.add_(0.1 * torch.randn(weights.shape, generator=generator))
    model.save_pretrained(str(folder), save_embedding_layers=False)
    return model


@pytest.mark.parametrize("name", ["bert", "llama", "gpt2"])
def test_it_is_measured_as_peft_merges_it(zoo: Zoo, tmp_path: Path, name: str) -> None:
    own = tuned(zoo, name, tmp_path / "tuned").merge_and_unload().eval()
    model: Any = open_model(f"{zoo.folder(name)}+{tmp_path / 'tuned'}")
    assert weights_digest(model.model) == weights_digest(own)
    ids = torch.tensor([[5, 9, 14, 30, 7]])
    with torch.inference_mode():
        assert torch.equal(model.model(input_ids=ids).logits, own(input_ids=ids).logits)


@pytest.mark.parametrize(
    "config",
    [
        peft.LoraConfig(r=2, use_rslora=True, target_modules=["q_proj"], task_type="CAUSAL_LM"),
        peft.LoraConfig(r=2, use_dora=True, target_modules=["v_proj"], bias="lora_only"),
        peft.LoHaConfig(r=2, target_modules=["q_proj", "v_proj"]),
        peft.IA3Config(target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"]),
    ],
    ids=["rslora", "dora", "loha", "ia3"],
)
def test_other_kinds_that_can_be_merged(zoo: Zoo, tmp_path: Path, config: Any) -> None:
    own = tuned(zoo, "llama", tmp_path / "tuned", config).merge_and_unload()
    model: Any = open_model(f"{zoo.folder('llama')}+{tmp_path / 'tuned'}")
    assert weights_digest(model.model) == weights_digest(own)


def test_its_card_says_what_it_is(zoo: Zoo, tmp_path: Path) -> None:
    tuned(zoo, "bert", tmp_path / "tuned")
    base = open_model(str(zoo.folder("bert"))).card
    card = open_model(f"{zoo.folder('bert')}+{tmp_path / 'tuned'}").card
    assert card.name == "bert+tuned"
    assert card.settings[SETTING]["peft_type"] == "LORA"
    assert "With an adapter, merged: tuned." in card.notes
    assert base.digest != card.digest
    assert base.identity != card.identity


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("name", [ADAPTER, ADAPTER_WEIGHTS])
def test_what_it_is_known_by_covers_its_files(zoo: Zoo, tmp_path: Path, name: str) -> None:
    tuned(zoo, "bert", tmp_path / "tuned")
    spec = model_spec(f"{zoo.folder('bert')}+{tmp_path / 'tuned'}")
    before = spec.fingerprint()
    file = tmp_path / "tuned" / name
    file.write_bytes(file.read_bytes() + b" ")
    assert before is not None
    assert spec.fingerprint() != before


def test_a_run_with_it(zoo: Zoo, tmp_path: Path) -> None:
    tuned(zoo, "llama", tmp_path / "tuned")
    spec = f"{zoo.folder('llama')}+{tmp_path / 'tuned'}"
    said = call("run", "starter", "-m", spec, "--limit", 2, "--resamples", 100)
    assert said.code == 0, said.err
    assert "llama+tuned" in said.out


def renamed(folder: Path, name: object) -> None:
    file = folder / ADAPTER
    file.write_text(json.dumps(json.loads(file.read_text()) | {"base_model_name_or_path": name}))


def refused(zoo: Zoo, base: str, folder: Path) -> str:
    with pytest.raises(ModelError) as error:
        open_model(f"{zoo.folder(base)}+{folder}")
    return str(error.value)


def test_another_base_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    tuned(zoo, "llama", tmp_path / "tuned")
    assert "was trained on" in refused(zoo, "qwen2", tmp_path / "tuned")
    renamed(tmp_path / "tuned", "org/another-llama")
    assert "was trained on org/another-llama" in refused(zoo, "llama", tmp_path / "tuned")
    renamed(tmp_path / "tuned", None)
    assert "does not fit bert" in refused(zoo, "bert", tmp_path / "tuned")


@pytest.mark.parametrize("name", ["", None, "org/Llama", "C:\\models\\llama"])
def test_a_base_is_known_by_the_last_part_of_its_name(
    zoo: Zoo, tmp_path: Path, name: str | None
) -> None:
    tuned(zoo, "llama", tmp_path / "tuned")
    renamed(tmp_path / "tuned", name)
    assert open_model(f"{zoo.folder('llama')}+{tmp_path / 'tuned'}").card.name == "llama+tuned"


def test_what_cannot_be_used_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    tuned(zoo, "bert", tmp_path / "begun", trained=False)
    assert "it changes nothing" in refused(zoo, "bert", tmp_path / "begun")
    tuned(zoo, "bert", tmp_path / "tuned")
    (tmp_path / "tuned" / ADAPTER_WEIGHTS).rename(tmp_path / "tuned" / "adapter_model.bin")
    assert "can run code" in refused(zoo, "bert", tmp_path / "tuned")
    (tmp_path / "tuned" / ADAPTER_WEIGHTS).write_bytes(b"cut off")
    assert "is not an adapter that can be used" in refused(zoo, "bert", tmp_path / "tuned")


def test_one_that_cannot_be_merged_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    config = peft.PromptTuningConfig(num_virtual_tokens=2, task_type="CAUSAL_LM")
    tuned(zoo, "llama", tmp_path / "tuned", config)
    assert "does not fit llama" in refused(zoo, "llama", tmp_path / "tuned")


def test_what_a_newer_peft_wrote_is_not_passed_over(zoo: Zoo, tmp_path: Path) -> None:
    tuned(zoo, "bert", tmp_path / "tuned")
    file = tmp_path / "tuned" / ADAPTER
    file.write_text(json.dumps(json.loads(file.read_text()) | {"use_magic": True}))
    assert "does not know use_magic" in refused(zoo, "bert", tmp_path / "tuned")


def test_it_comes_first(zoo: Zoo, tmp_path: Path) -> None:
    for name in ("one", "two"):
        tuned(zoo, "bert", tmp_path / name)
    spec = f"{zoo.folder('bert')}+{tmp_path / 'one'}+{tmp_path / 'two'}"
    with pytest.raises(ModelError, match="Put the adapter first"):
        open_model(spec)


def test_alone_it_is_no_model(zoo: Zoo, tmp_path: Path) -> None:
    tuned(zoo, "bert", tmp_path / "tuned")
    said = call("run", "starter", "-m", tmp_path / "tuned")
    assert said.code == MODEL_ERROR
    assert "is an adapter. By itself it is no model. Write the model" in said.err


def test_without_peft_it_says_what_to_install(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned(zoo, "bert", tmp_path / "tuned")
    monkeypatch.setitem(sys.modules, "peft", None)
    assert "Adapters need the package peft" in refused(zoo, "bert", tmp_path / "tuned")
