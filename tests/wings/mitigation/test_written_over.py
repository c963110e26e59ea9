"""What is on disk already: a mitigation may be made again, everything else stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save as packed

import stereometer
from stereometer.core.errors import StereometerError, UsageError
from stereometer.wings.mitigation.forms.stored import CONFIG, save
from stereometer.wings.mitigation.methods.mitigate import control_path
from tests.builders.mitigated import card
from tests.wings.mitigation.test_mitigate import silent


def refused(method: str, out: Path, text: Path, control: bool = True) -> None:
    """Before a model is opened: there is none of this name."""
    with pytest.raises(UsageError, match="--out"):
        mitigated(method, out, text, control)


def mitigated(method: str, out: Path, text: Path, control: bool = True) -> None:
    order: dict[str, Any] = {"model": "no-model", "attribute": "gender", "text": text, "out": out}
    stereometer.mitigate(method, **order, control=control, progress=silent)


@pytest.mark.parametrize("name", ["cda", "cda.control"])
@pytest.mark.parametrize("inside", ["notes.txt", "card.json"])
def test_a_folder_of_the_users_stays(
    gendered_text: Path, tmp_path: Path, name: str, inside: str
) -> None:
    own = tmp_path / name / inside
    own.parent.mkdir()
    own.write_text("{}", encoding="utf-8")
    refused("cda", tmp_path / "cda", gendered_text)
    assert own.read_text(encoding="utf-8") == "{}"


@pytest.mark.parametrize("name", ["cda", "cda.control"])
def test_a_file_in_the_place_of_a_folder_stays(
    gendered_text: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    refused("cda", tmp_path / "cda", gendered_text)
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["model.safetensors", "model.control.safetensors"])
def test_weights_of_a_model_stay(gendered_text: Path, tmp_path: Path, name: str) -> None:
    weights = packed({"weights": torch.ones(2)}, metadata={"format": "pt"})
    (tmp_path / name).write_bytes(weights)
    refused("leace", tmp_path / "model.safetensors", gendered_text)
    assert (tmp_path / name).read_bytes() == weights


@pytest.mark.parametrize(("method", "name"), [("leace", "m.safetensors"), ("cda", "cda")])
def test_a_mitigation_is_made_again(
    gendered_text: Path, tmp_path: Path, method: str, name: str
) -> None:
    form = "adapter" if method == "cda" else "projection"
    tensors = {CONFIG: torch.zeros(4, dtype=torch.uint8), "weights": torch.ones(2)}
    for path in (tmp_path / name, control_path(tmp_path / name)):
        save(card(form=form), tensors, path)
    with pytest.raises(StereometerError, match="no-model") as raised:
        mitigated(method, tmp_path / name, gendered_text)
    assert "--out" not in str(raised.value)
