"""An exported folder is an ordinary model; where it cannot be all of the mitigation it says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

import stereometer
from stereometer.core.errors import ModelError, UsageError
from stereometer.models.local.opener import CHECKPOINT
from stereometer.wings.mitigation.card import MitigationCard, card_of
from stereometer.wings.mitigation.forms.apply import Projection, fold
from stereometer.wings.mitigation.forms.stored import save
from stereometer.wings.mitigation.methods.export import WITHOUT_MEAN, export_mitigated
from stereometer.wings.mitigation.methods.linear import drawn
from stereometer.wings.mitigation.verdicts import judge
from tests.builders.models.zoo import Zoo
from tests.models.local.test_folders import assert_found_by_any_tool

WIDTH = 32


def projection(mean: float = 0.1) -> Projection:
    return replace(drawn(WIDTH, 2, 0), mean=torch.full((WIDTH,), mean, dtype=torch.float64))


def mitigated(zoo: Zoo, name: str, path: Path, form: str = "projection") -> str:
    base = CHECKPOINT.open(str(zoo.folder(name)), CHECKPOINT.options())
    save(MitigationCard("leace", form, name, base.weights), projection().tensors, path)
    return f"{zoo.folder(name)}+{path}"


def test_a_masked_model_is_exported_whole(zoo: Zoo, tmp_path: Path) -> None:
    spec = mitigated(zoo, "bert", tmp_path / "m.safetensors")
    done = stereometer.export_mitigated(spec, out=tmp_path / "folder")
    opened = CHECKPOINT.open(spec, CHECKPOINT.options())
    assert done.notes == ()
    assert done.weights == opened.weights
    model = AutoModelForMaskedLM.from_pretrained(tmp_path / "folder").eval()
    ids = torch.tensor([[2, 7, 8, 3]])
    with torch.no_grad():
        assert torch.allclose(model(ids).logits, opened.model(ids).logits, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_a_causal_model_is_exported_without_the_mean_and_says_so(
    zoo: Zoo, name: str, tmp_path: Path
) -> None:
    spec = mitigated(zoo, name, tmp_path / "m.safetensors")
    done = export_mitigated(spec, out=tmp_path / "folder")
    assert done.notes == (WITHOUT_MEAN,)
    assert WITHOUT_MEAN in done.card.notes
    assert done.card.perplexity is None  # that of other weights
    control = replace(done.card, control_of="leace", settings={})
    assert judge.why_no_control(done.card, control) == (
        "its setting mean is None, that of the mitigation False"
    )
    assert done.weights != CHECKPOINT.open(spec, CHECKPOINT.options()).weights
    alone = CHECKPOINT.open(str(zoo.folder(name)), CHECKPOINT.options())
    fold(alone, projection(mean=0.0))
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "folder").eval()
    ids = torch.tensor([[2, 7, 8, 3]])
    with torch.no_grad():
        assert torch.allclose(model(ids).logits, alone.model(ids).logits, rtol=0, atol=1e-5)
    assert_found_by_any_tool(tmp_path / "folder", model, tmp_path / "work")
    assert CHECKPOINT.open(str(tmp_path / "folder"), CHECKPOINT.options()).weights == done.weights


def test_what_cannot_be_exported_says_why(zoo: Zoo, tmp_path: Path) -> None:
    spec = mitigated(zoo, "bert", tmp_path / "m.safetensors")
    with pytest.raises(UsageError, match="has no mitigation"):
        export_mitigated(str(zoo.folder("bert")), out=tmp_path / "folder")
    with pytest.raises(UsageError, match="already exists"):
        export_mitigated(spec, out=tmp_path)
    prompt = mitigated(zoo, "bert", tmp_path / "p.safetensors", form="prompt")
    with pytest.raises(UsageError, match="not its weights"):
        export_mitigated(prompt, out=tmp_path / "folder")


def test_a_folder_that_does_not_load_as_written_is_not_left(zoo: Zoo, tmp_path: Path) -> None:
    """Two projections leave a bias in an output layer for which the folder has no place."""
    first = mitigated(zoo, "llama", tmp_path / "a.safetensors")
    base = CHECKPOINT.open(first, CHECKPOINT.options())
    second = tmp_path / "b.safetensors"
    card = MitigationCard("inlp", "projection", "llama", base.weights)
    save(card, replace(drawn(WIDTH, 2, 1), mean=projection().mean).tensors, second)
    with pytest.raises(ModelError, match="does not load as it was written"):
        export_mitigated(f"{first}+{second}", out=tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_an_exported_folder_still_knows_its_base(zoo: Zoo, tmp_path: Path) -> None:
    spec, folder = mitigated(zoo, "bert", tmp_path / "m.safetensors"), tmp_path / "folder"
    done = export_mitigated(spec, out=folder)
    opened = CHECKPOINT.open(str(folder), CHECKPOINT.options())
    assert card_of({"settings": opened.card.settings}) == done.card
    assert any("exported from bert" in note for note in opened.card.notes)
    base = CHECKPOINT.open(str(zoo.folder("bert")), CHECKPOINT.options())
    assert done.card.base_digest == base.weights


def test_weights_that_were_changed_since_have_no_card(zoo: Zoo, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    export_mitigated(mitigated(zoo, "bert", tmp_path / "m.safetensors"), out=folder)
    model = AutoModelForMaskedLM.from_pretrained(folder)
    with torch.no_grad():
        model.cls.predictions.bias += 1
    model.save_pretrained(folder)
    opened = CHECKPOINT.open(str(folder), CHECKPOINT.options())
    assert card_of({"settings": opened.card.settings}) is None
    assert any("about other weights" in note for note in opened.card.notes)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"card": 1, "weights": "x"}'])
def test_a_broken_card_in_a_folder_is_an_error(zoo: Zoo, tmp_path: Path, content: str) -> None:
    folder = tmp_path / "folder"
    export_mitigated(mitigated(zoo, "bert", tmp_path / "m.safetensors"), out=folder)
    (folder / "mitigation.json").write_text(content, "utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        CHECKPOINT.open(str(folder), CHECKPOINT.options())
