"""What a mitigation does not reach is not answered: never the base's numbers under its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.types import Generate, Request, SpanVectors
from stereometer.models.local.opener import CHECKPOINT
from stereometer.testing import sample_requests
from stereometer.wings.mitigation.forms.stored import load, save
from stereometer.wings.mitigation.methods.export import export_mitigated
from stereometer.wings.training.recipe import trainable
from tests.builders.commands import call
from tests.builders.models.zoo import Zoo
from tests.wings.mitigation.test_mitigate import silent

METHODS = {"leace": "m.safetensors", "self-debias": "m.safetensors", "cda": "m"}
Made = Callable[[str, str], str]


@pytest.fixture(scope="module")
def made(
    zoo: Zoo, gendered_text: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], str]:
    """A model with a mitigation, made once, as a spec."""
    known: dict[tuple[str, str], str] = {}

    def make(model: str, method: str) -> str:
        if (model, method) not in known:
            folder, text = str(zoo.folder(model)), gendered_text
            out = tmp_path_factory.mktemp("reach") / METHODS[method]
            measured = None if method == "self-debias" else text
            order: dict[str, Any] = {"model": folder, "attribute": "gender", "text": measured}
            order |= {"out": out, "sentences": 100, "control": False, "progress": silent}
            stereometer.mitigate(method, **order)
            known[model, method] = f"{folder}+{out}"
        return known[model, method]

    return make


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", ["bert", "llama"])
def test_every_kind_of_answer_is_another_than_the_base_s(
    zoo: Zoo, made: Made, model: str, method: str
) -> None:
    base = CHECKPOINT.open(str(zoo.folder(model)), CHECKPOINT.options())
    after = CHECKPOINT.open(made(model, method), CHECKPOINT.options())
    requests: dict[str, Request] = {
        key: request
        for key, request in sample_requests(after).items()
        if request.kind != Generate.kind  # a text may well be the same
    }
    if SpanVectors.kind in after.abilities.kinds:
        ids = after.encode("The man sat near the old bridge.").ids
        requests["vectors"] = SpanVectors(ids, (1, 2))
    assert {request.kind for request in requests.values()} == after.abilities.kinds - {
        Generate.kind
    }
    first, second = (dict(backend.answer(requests)) for backend in (base, after))
    for key, request in requests.items():
        for row, other in zip(first[key].rows, second[key].rows, strict=True):
            for column in other:
                assert list(row[column]) != list(other[column]), (request.kind, column)


@pytest.mark.long
def test_states_are_answered_only_where_they_change(made: Made) -> None:
    kinds = {
        method: CHECKPOINT.open(made("bert", method), CHECKPOINT.options()).abilities.kinds
        for method in METHODS
    }
    assert {method for method, kind in kinds.items() if SpanVectors.kind in kind} == {"cda"}


def test_an_exported_projection_does_not_answer_them_either(made: Made, tmp_path: Path) -> None:
    export_mitigated(made("bert", "leace"), out=tmp_path / "folder")
    folder = str(tmp_path / "folder")
    opened = CHECKPOINT.open(folder, CHECKPOINT.options())
    assert SpanVectors.kind not in opened.abilities.kinds
    with pytest.raises(ModelError, match="no use for a head"):
        CHECKPOINT.open(folder, CHECKPOINT.options(head="head.safetensors"))


@pytest.mark.parametrize("method", ["leace", "self-debias"])
def test_no_head_is_put_on_states_that_are_the_base_s(made: Made, method: str) -> None:
    spec = made("bert", method)
    with pytest.raises(ModelError, match="its numbers would be the base's"):
        CHECKPOINT.open(spec, CHECKPOINT.options(head="head.safetensors"))
    with pytest.raises(UsageError, match="has the states of its base"):
        trainable(CHECKPOINT.open(spec, CHECKPOINT.options()))


@pytest.mark.parametrize("what", ["nsp", "sentiment"])
def test_nothing_is_trained_on_the_base_under_another_name(
    made: Made, gendered_text: Path, tmp_path: Path, what: str
) -> None:
    text = ("--text", gendered_text) if what == "nsp" else ("--reviews", gendered_text)
    said = call("train", what, "-m", made("bert", "leace"), *text, "--out", tmp_path / "out")
    assert "has the states of its base" in said.err


def test_a_card_that_was_changed_is_an_error(made: Made, tmp_path: Path) -> None:
    """Its words and domains decide verdicts, and a prompt has nothing but its card."""
    for method in ("leace", "self-debias"):
        base, _, file = made("bert", method).rpartition("+")
        whole = Path(file).read_bytes()
        changed = tmp_path / f"{method}.safetensors"
        changed.write_bytes(whole.replace(b'\\"seed\\": 0', b'\\"seed\\": 7'))
        assert changed.read_bytes() != whole
        with pytest.raises(ModelError, match="does not hold what its card says"):
            CHECKPOINT.open(f"{base}+{changed}", CHECKPOINT.options())


@pytest.mark.long
def test_a_card_knows_what_was_read(
    zoo: Zoo, gendered_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A causal model cannot read a sentence that ends with its list word."""
    from stereometer.wings.mitigation.methods import sentences

    ends = sentences.LabelledSentence("female", {"female": "We saw her", "male": "We saw him"})
    drawn = sentences._draw
    monkeypatch.setattr(
        sentences, "_draw", lambda labelled, limit, rng: (*drawn(labelled, limit, rng)[1:], ends)
    )
    order: dict[str, Any] = {"attribute": "gender", "text": gendered_text, "sentences": 100}
    order |= {"out": tmp_path / "m.safetensors", "control": False, "progress": silent}
    cards = [
        stereometer.mitigate("leace", model=zoo.folder(model), **order)[0]
        for model in ("bert", "llama")
    ]
    counts = [card.sentences for card in cards]
    assert counts == [{"female": 100, "male": 100}, {"female": 99, "male": 100}]


@pytest.mark.parametrize("method", ["leace", "cda"])
def test_nothing_is_fitted_on_states_that_leave_a_mitigation_out(
    made: Made, gendered_text: Path, tmp_path: Path, method: str
) -> None:
    out = tmp_path / METHODS[method]
    order: dict[str, Any] = {"attribute": "gender", "text": gendered_text, "out": out}
    with pytest.raises(UsageError, match="has the states of its base"):
        stereometer.mitigate(method, model=made("bert", "leace"), **order, progress=silent)
    assert list(tmp_path.iterdir()) == []


def test_an_adapter_does_not_come_after_a_projection(made: Made, tmp_path: Path) -> None:
    """Not even where its card says that it was fitted there."""
    base = CHECKPOINT.open(made("bert", "leace"), CHECKPOINT.options())
    stored = load(Path(made("bert", "cda").rpartition("+")[2]))
    save(replace(stored.card, base_digest=base.weights), stored.tensors, tmp_path / "cda")
    with pytest.raises(ModelError, match="Put the adapter first"):
        CHECKPOINT.open(f"{made('bert', 'leace')}+{tmp_path / 'cda'}", CHECKPOINT.options())


def test_an_exported_folder_is_known_in_float32_alone(made: Made, tmp_path: Path) -> None:
    export_mitigated(made("bert", "leace"), out=tmp_path / "folder")
    with pytest.raises(ModelError, match="Use --dtype float32"):
        CHECKPOINT.open(str(tmp_path / "folder"), CHECKPOINT.options(dtype="bfloat16"))
