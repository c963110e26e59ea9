"""Self-Debias in a file: a model with it is opened like any other, and settings that change nothing
are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from re import findall
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.runs.open import open_model
from stereometer.wings.mitigation.card import card_of
from stereometer.wings.mitigation.forms.self_debias import SelfDebiased
from stereometer.wings.mitigation.forms.stored import load, save
from stereometer.wings.mitigation.methods.mitigate import control_path
from stereometer.wings.mitigation.methods.self_debias import PROMPTS
from tests.builders.models.zoo import Zoo


def silent(*report: Any) -> None:
    """Progress that nobody watches."""


def mitigated(zoo: Zoo, folder: Path, model: str = "gpt2", **more: Any) -> tuple[str, Path, Any]:
    """The model, the file, and the cards."""
    base, out = str(zoo.folder(model)), folder / "sd.safetensors"
    order: dict[str, Any] = {"model": base, "attribute": "gender", "out": out, "progress": silent}
    return base, out, stereometer.mitigate("self-debias", **(order | more))


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_it_is_made_without_a_text_and_opened_by_its_name(
    zoo: Zoo, model: str, tmp_path: Path
) -> None:
    name, out, (card, control) = mitigated(zoo, tmp_path, model, settings={"decay": 20.0})
    assert card.settings == {"prompt": card.settings["prompt"], "lambda": 20.0, "eps": 0.01}
    assert "gender" in card.settings["prompt"]
    assert (card.probe, card.perplexity, card.text) == (None, None, "")
    assert (control.method, control.control_of) == ("other-prompt", "self-debias")
    for prompt in PROMPTS.values():
        assert not {*findall(r"\w+", prompt)} & {*findall(r"\w+", control.settings["prompt"])}
    base, opened, beside = (
        open_model(f"{name}{more}") for more in ("", f"+{out}", f"+{control_path(out)}")
    )
    assert isinstance(opened, SelfDebiased)
    assert card_of({"settings": opened.card.settings}) == card
    assert opened.card.digest == base.card.digest
    assert len({backend.card.identity for backend in (base, opened, beside)}) == 3


@pytest.mark.long
def test_with_a_text_its_perplexity_is_measured(
    zoo: Zoo, gendered_text: Path, tmp_path: Path
) -> None:
    _, _, (card,) = mitigated(zoo, tmp_path, text=gendered_text, sentences=1000, control=False)
    assert card.sentences == {}
    assert card.perplexity is not None
    assert card.perplexity.after != card.perplexity.before
    assert card.probe is not None
    assert card.probe.after == card.probe.before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"decay": 0.0}, "at 0 nothing changes"),
        ({"decay": -1.0}, r"--decay \(lambda\) is -1"),
        ({"eps": 1.0}, "at 1 nothing changes"),
        ({"eps": 0.0}, "eps is 0"),
    ],
)
def test_settings_that_change_nothing_are_refused(
    zoo: Zoo, tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        mitigated(zoo, tmp_path, settings=options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("change", [{"prompt": " "}, {"lambda": 0}, {"eps": 1}, {"eps": "x"}])
def test_a_file_with_such_settings_is_no_model(
    zoo: Zoo, tmp_path: Path, change: dict[str, Any]
) -> None:
    model, out, _ = mitigated(zoo, tmp_path, control=False)
    stored = load(out)
    save(replace(stored.card, settings={**stored.card.settings, **change}), {}, out)
    with pytest.raises(ModelError, match="cannot be used"):
        open_model(f"{model}+{out}")


def test_nothing_is_put_into_a_wrapped_model(zoo: Zoo, tmp_path: Path) -> None:
    model, out, _ = mitigated(zoo, tmp_path, control=False)
    with pytest.raises(ModelError, match="wraps last"):
        open_model(f"{model}+{out}+{out}")
    again: dict[str, Any] = {"model": f"{model}+{out}", "attribute": "gender"}
    with pytest.raises(UsageError, match="without it"):
        stereometer.mitigate("self-debias", **again, out=tmp_path / "two.safetensors")
    with pytest.raises(ModelError, match="no use for a head"):
        open_model(f"{model}+{out}", 0, {"head": "head.safetensors"})


def test_a_permuted_model_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="for causal and masked models"):
        mitigated(zoo, tmp_path, "xlnet")
