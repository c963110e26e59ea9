"""The variants `paper`: what the authors' code pools, and what it tells apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from stereometer.core.errors import DataError
from stereometer.core.runs.open import open_model
from stereometer.wings.mitigation.attribute import load
from stereometer.wings.mitigation.methods import inlp, sentence_debias
from stereometer.wings.mitigation.methods.method import InlpOptions, MitigationOrder
from stereometer.wings.mitigation.methods.sentences import read
from stereometer.wings.mitigation.methods.states import StateReader, States
from stereometer.wings.training.recipe import with_states
from tests.builders.models.zoo import Zoo
from tests.wings.mitigation.test_mitigate import silent


def order(
    zoo: Zoo, model: str, text: Path, attribute: str = "gender", **options: Any
) -> MitigationOrder:
    backend = with_states(open_model(str(zoo.folder(model)), 0))
    own = load(attribute)
    return MitigationOrder(
        backend, own, read(text, own, 100, 0), "paper", InlpOptions(**options), 0, silent
    )


def last_states(backend: Any, text: str) -> Tensor:
    """Of the trunk, asked for one text."""
    ids = torch.tensor([backend.encode(text).ids])
    with torch.inference_mode():
        states: Tensor = backend.split.inner(input_ids=ids)[0][0]
    return states.double()


@pytest.mark.parametrize("model", ["bert", "llama"])
def test_pooling_is_the_mean_over_all_tokens_with_special_ones(
    zoo: Zoo, gendered_text: Path, model: str
) -> None:
    ours = order(zoo, model, gendered_text)
    texts = [part.text for part in ours.sentences.fit[:5]]
    pooled = ours.reader().pooled(texts, "")
    plain = torch.stack([last_states(ours.backend, text).mean(0) for text in texts])
    assert torch.allclose(pooled, plain, atol=1e-5)


def test_sentence_debias_makes_every_vector_one_long(
    zoo: Zoo, gendered_text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text whose states are larger counts no more than others."""
    ours = order(zoo, "bert", gendered_text)

    def pooled(self: StateReader, texts: Sequence[str], purpose: str) -> Tensor:
        sign = 1.0 if purpose.endswith(" female") else -1.0
        rows = torch.tensor([[3.0, 4.0 * sign, 0.0]]).double().repeat(len(texts), 1)
        return rows * torch.arange(1, len(texts) + 1)[:, None]

    monkeypatch.setattr(StateReader, "pooled", pooled)
    differences, _, _ = sentence_debias._differences(ours)
    assert torch.allclose(differences.abs(), torch.tensor([0.0, 0.8, 0.0]).double())


def parts_told_apart(ours: MitigationOrder, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    seen: list[States] = []
    real = inlp.taken_away

    def watched(states: States, *rest: Any) -> Any:
        seen.append(states)
        return real(states, *rest)

    monkeypatch.setattr(inlp, "taken_away", watched)
    inlp.METHOD.fit(ours)
    return torch.bincount(seen[0].labels).tolist()


@pytest.mark.long
def test_inlp_tells_two_classes_from_each_other_and_from_neither(
    zoo: Zoo, gendered_text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = order(zoo, "bert", gendered_text, rounds=1)
    assert parts_told_apart(ours, monkeypatch) == [100, 100, 100]


def test_inlp_tells_any_word_of_three_classes_from_none(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = order(zoo, "bert", _three_classes(tmp_path), str(tmp_path / "three.json"), rounds=1)
    assert parts_told_apart(ours, monkeypatch) == [100, 100]


def test_inlp_says_what_is_missing(zoo: Zoo, gendered_text: Path) -> None:
    ours = order(zoo, "bert", gendered_text, rounds=1)
    ours = replace(ours, sentences=replace(ours.sentences, neutral=()))
    with pytest.raises(DataError, match="without any list word"):
        inlp.METHOD.fit(ours)


def _three_classes(folder: Path) -> Path:
    attribute: dict[str, Any] = {
        "name": "three",
        "classes": ["red", "green", "blue"],
        "rows": [["red", "green", "blue"]],
        "held_out": [["reddish", "greenish", "bluish"]],
    }
    (folder / "three.json").write_text(json.dumps(attribute), encoding="utf-8")
    words = [*attribute["rows"][0], *attribute["held_out"][0], "large"]
    lines = [
        json.dumps({"text": " ".join(f"The {word} house had {n} small rooms." for word in words)})
        for n in range(200)
    ]
    (folder / "three.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder / "three.jsonl"
