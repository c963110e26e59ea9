"""From a text to a mitigation in a file, with its control and what was measured; and what cannot be
fitted says why."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import stereometer
from stereometer.core.errors import DataError, UnknownName, UsageError
from stereometer.core.runs.open import open_model
from stereometer.core.types import Skip, packages
from stereometer.models.local.sentence_pairs import Features, PairTokens
from stereometer.wings.mitigation.attribute import load as load_attribute
from stereometer.wings.mitigation.card import MitigationCard, card_of
from stereometer.wings.mitigation.forms.stored import load
from stereometer.wings.mitigation.methods.mitigate import control_path
from stereometer.wings.mitigation.methods.sentences import LEAST, read
from stereometer.wings.mitigation.methods.states import StateReader
from tests.builders import gendered
from tests.builders.commands import assert_refused, call
from tests.builders.models.zoo import Zoo

Make = Callable[..., tuple[list[MitigationCard], Path]]


def silent(*report: Any) -> None:
    """Progress that nobody watches."""


@pytest.fixture
def make(zoo: Zoo, gendered_text: Path, tmp_path_factory: pytest.TempPathFactory) -> Make:
    def made(model: str, method: str = "leace", **more: Any) -> tuple[list[MitigationCard], Path]:
        out = tmp_path_factory.mktemp(model) / f"{method}.safetensors"
        order: dict[str, Any] = {"model": zoo.folder(model), "text": gendered_text}
        order |= {"attribute": "gender", "out": out, "sentences": 100, "progress": silent, **more}
        return stereometer.mitigate(method, **order), out

    return made


@pytest.mark.long
@pytest.mark.parametrize("model", ["bert", "llama"])
def test_a_mitigation_and_its_control_are_written_and_measured(
    make: Make, zoo: Zoo, model: str
) -> None:
    (card, control), out = make(model)
    assert load(out).card == card
    assert load(control_path(out)).card == control
    assert (card.method, card.rank, card.control) == ("leace", 1, "leace.control.safetensors")
    assert (control.method, control.rank, control.control_of) == ("random-projection", 1, "leace")
    assert card.sentences == {"female": 100, "male": 100}
    assert card.probe is not None
    assert card.perplexity is not None
    assert card.perplexity.name == {"bert": "pseudo-perplexity", "llama": "perplexity"}[model]
    assert card.probe.chance == 50
    assert card.probe.before.low <= card.probe.before.value <= card.probe.before.high
    assert card.perplexity.ratio.value == pytest.approx(
        card.perplexity.after / card.perplexity.before
    )
    opened = open_model(f"{zoo.folder(model)}+{out}")
    assert card_of({"settings": opened.card.settings}) == card


@pytest.mark.long
def test_the_same_order_gives_the_same_file(make: Make) -> None:
    (first, _), left = make("bert", control=True)
    (second,), right = make("bert", control=False)
    first, second = (replace(card, control="", content="") for card in (first, second))
    assert first == second
    assert all(
        torch.equal(tensor, load(right).tensors[name])
        for name, tensor in load(left).tensors.items()
    )
    assert not control_path(right).exists()


@pytest.mark.long
def test_the_verb_makes_what_the_command_makes(
    make: Make, zoo: Zoo, gendered_text: Path, tmp_path: Path
) -> None:
    cards, written = make("bert")
    order: dict[str, Any] = {"model": zoo.folder("bert"), "attribute": "gender", "sentences": 100}
    order |= {"text": str(gendered_text), "out": str(tmp_path / written.name)}
    assert stereometer.mitigate("leace", **order, threads=None) == cards
    assert (tmp_path / written.name).read_bytes() == written.read_bytes()
    with pytest.raises(UsageError, match="leace has no setting rounds"):
        stereometer.mitigate("leace", **order, settings={"rounds": 2})


@pytest.mark.long
def test_states_that_were_kept_are_not_read_again(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, _), _ = make("llama", states=tmp_path / "states")
    monkeypatch.setattr(Features, "states", None)
    (second, _), _ = make("llama", states=tmp_path / "states")
    assert second == first


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "method", "variant", "options", "rank"),
    [
        ("bert", "inlp", "sound", {"rounds": 2}, range(1, 3)),
        ("llama", "inlp", "paper", {"rounds": 2}, range(2, 7)),
        ("llama", "sentence-debias", "sound", {"components": 2}, range(2, 3)),
        ("bert", "sentence-debias", "paper", {}, range(1, 2)),
    ],
)
def test_other_projections_have_the_rank_that_they_say(
    make: Make, model: str, method: str, variant: str, options: dict[str, int], rank: range
) -> None:
    (card,), out = make(model, method, variant=variant, settings=options, control=False)
    assert (card.method, card.variant) == (method, variant)
    assert card.rank in rank
    tensors = load(out).tensors
    assert torch.equal(tensors["left"], tensors["right"].T)
    identity = torch.eye(card.rank or 0, dtype=torch.float64)
    assert torch.allclose(tensors["right"] @ tensors["left"], identity, atol=1e-10)
    assert bool(tensors["mean"].any()) == (variant == "sound"), "what all states share stays"


# ------------------------------------------------------------------------------------------- errors


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "options", "said"),
    [
        ("inlp", {"rounds": -1}, "A round fits a classifier"),
        ("sentence-debias", {"components": 99}, "from 1 to 31"),
    ],
)
def test_options_out_of_range(make: Make, method: str, options: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make("bert", method, settings=options)


def test_a_text_without_the_words(zoo: Zoo, tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("\n\n".join(f"The cat sat on mat number {n}." for n in range(20)))
    with pytest.raises(DataError, match="too few sentences of class"):
        mitigated(zoo, plain, tmp_path)


def test_a_text_with_too_few_of_them(zoo: Zoo, tmp_path: Path) -> None:
    assert LEAST == 1000
    short = gendered.text(tmp_path / "few.jsonl", articles=30)
    with pytest.raises(DataError, match="too few sentences of class"):
        mitigated(zoo, short, tmp_path)


def test_a_text_without_held_out_words(tmp_path: Path) -> None:
    lines = [
        json.dumps({"text": f"She saw the lake number {n}. He saw the hill number {n}."})
        for n in range(160)
    ]
    path = tmp_path / "text.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match="0 held-out sentences with held-out words"):
        read(path, load_attribute("gender"), 100, 0)


def test_a_text_in_too_few_articles_to_train_a_probe(tmp_path: Path) -> None:
    lines = [json.dumps({"text": " ".join(_long_article(number))}) for number in range(4)]
    path = tmp_path / "text.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match="held-out sentences with words"):
        read(path, load_attribute("gender"), 100, 0)


def _long_article(number: int) -> Iterator[str]:
    for at in range(100):
        for who in ("She", "He", "The queen", "The king"):
            yield f"{who} saw the lake number {number} and {at} times more."


def test_states_of_nothing(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where no sentence fits into the model's window."""
    monkeypatch.setattr(StateReader, "_positions", lambda self, text: iter(_skipped()))
    with pytest.raises(DataError, match="No sentence is left"):
        make("bert")


def _skipped() -> list[PairTokens]:
    raise Skip("too long")


def test_a_method_for_another_family(zoo: Zoo, gendered_text: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="for causal and masked models"):
        mitigated(zoo, gendered_text, tmp_path, model=zoo.folder("xlnet"))


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"method": "leece"}, UnknownName, "leace"),
        ({"variant": "paper"}, UsageError, "no variant 'paper'"),
        ({"sentences": 10}, UsageError, "mostly chance"),
        ({"out": Path("x.bin")}, UsageError, "ends in .safetensors"),
        ({"model": "fake"}, UsageError, "has no states"),
        ({"seed": -1}, UsageError, "from 0 up"),
        ({"seed": 2**64}, UsageError, "below 2 to the 63"),
        ({"against": (Path("missing.csv"),), "sentences": 100}, DataError, "was not found"),
        ({"attribute": "height"}, UnknownName, "height"),
    ],
)
def test_orders_that_make_no_sense(
    zoo: Zoo, gendered_text: Path, tmp_path: Path, change: dict[str, Any], kind: Any, said: str
) -> None:
    with pytest.raises(kind, match=said):
        mitigated(zoo, gendered_text, tmp_path, **change)


def mitigated(zoo: Zoo, text: Path, folder: Path, **change: Any) -> None:
    order: dict[str, Any] = {"method": "leace", "model": zoo.folder("bert"), "text": text}
    order |= {"attribute": "gender", "out": folder / "m.safetensors", "progress": silent, **change}
    stereometer.mitigate(**order)


def test_without_the_packages_it_says_how_to_install_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(packages.check_packages, "__defaults__", (lambda name: None,))
    out = tmp_path / "m.safetensors"
    arguments = ("leace", "-m", "a", "--attribute", "gender", "--text", "x", "--out", out)
    says = "Mitigations need packages that are not installed: torch"
    assert_refused(call("mitigate", *arguments), 2, says, "pip install '.[mitigate]'")


@pytest.mark.long
def test_what_could_not_be_measured_is_not_left_behind(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And what stood there before is still there. What a kill left goes with the next run."""
    from stereometer.wings.mitigation.methods import probing

    out, killed = tmp_path / "m.safetensors", []
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda folder, **how: killed.append(folder))
        make("bert", out=out)
    assert killed[-1].exists()
    make("bert", out=out)
    before = out.read_bytes()

    def interrupted(*anything: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(probing.Probing, "noted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make("bert", "inlp", out=out)
    assert out.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"m.safetensors", "m.control.safetensors"}
