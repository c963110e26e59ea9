"""A bias that we planted: LEACE takes it away, a random projection of the same rank does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from stereometer import run
from stereometer.backends.local.opener import CHECKPOINT
from stereometer.mitigations.attribute import load
from stereometer.training.mitigation.leace import erased
from stereometer.training.mitigation.sentences import Sentences, read
from stereometer.training.mitigation.states import Reader
from stereometer.training.mitigation.verb import Wish, control_path, mitigate
from tests.builders.little import intra, stereoset_file
from tests.builders.models.builders import BUILDS, save, seeded
from tests.unit.training.mitigation.test_verb import silent

SUBJECTS = (("she", "he"), ("the woman", "the man"), ("the girl", "the boy"))
HERS, HIS = ("house", "morning", "train", "door"), ("shoes", "children", "time", "visitors")
"""Words that the planted bias gives to women and to men: one token each."""
STRENGTH = 8.0
"""In logits, between the means of both."""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences in which one word follows a list word, as in the items below."""
    path = tmp_path_factory.mktemp("planted") / "text.jsonl"
    lines = []
    for number in range(100, 600):
        woman, man = SUBJECTS[number % 3]
        queen, king = (("the queen", "the king"), ("the wife", "the husband"))[number % 2]
        start = f"On day {number} of the long year"
        texts = [f"{start} {who} came." for who in (woman, man, (queen, king)[number // 2 % 2])]
        lines.append(json.dumps({"text": " ".join(texts)}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def planted(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model whose output layer reads gender and says a word of that gender."""
    folder = tmp_path_factory.mktemp("planted-model")
    torch.manual_seed(0)
    tokenizer = BUILDS["gpt2"].reads.make()
    model = seeded(BUILDS["gpt2"].make(tokenizer), 0)
    model.config.tie_word_embeddings = False
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    save(model, tokenizer, folder / "plain")
    direction = _direction(folder / "plain", read(text, load("gender"), 300, 0))
    with torch.no_grad():
        for words, sign in ((HERS, -1.0), (HIS, 1.0)):
            for word in words:
                (token,) = tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
                model.lm_head.weight[token] += sign * direction
    return save(model, tokenizer, folder / "planted")


def _direction(folder: Path, sentences: Sentences) -> torch.Tensor:
    """Reads men as positive, women as negative, and an average state as neither."""
    backend = CHECKPOINT.open(str(folder), CHECKPOINT.options())
    states = Reader(backend, sentences.swaps, 0, silent).scored(sentences.fit, "")
    mean = states.rows.mean(0)
    reads = erased(states.rows, states.labels).right[0]
    reads = reads - (reads @ mean) / mean.square().sum() * mean
    gap = states.rows[states.labels == 1].mean(0) - states.rows[states.labels == 0].mean(0)
    return (STRENGTH / (reads @ gap) * reads).float()


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every start for women and for men, each time with a word of either."""
    cats: list[dict[str, Any]] = []
    for number in range(60):
        for who, (own, other) in zip(SUBJECTS[number % 3], ((HERS, HIS), (HIS, HERS)), strict=True):
            context = f"On day {600 + number} of the long year {who} BLANK"
            fills = (own[number % 4], other[number // 4 % 4], "nine")
            place = {"target": f"day {number}", "bias_type": "gender"}
            cats.append(intra(f"{number} {who}", context, fills, **place))
    return stereoset_file(tmp_path_factory.mktemp("items") / "dev.json", cats)


def test_leace_takes_away_a_planted_bias_and_a_random_projection_does_not(
    text: Path, planted: Path, items: Path, tmp_path: Path
) -> None:
    out = tmp_path / "leace.safetensors"
    wish = Wish("leace", str(planted), "gender", text, out, sentences=300)
    card, control = mitigate(wish, silent)
    scores = {
        name: _ss(f"{planted}{suffix}", items, tmp_path / name)
        for name, suffix in {
            "before": "",
            "after": f"+{out}",
            "control": f"+{control_path(out)}",
        }.items()
    }
    assert scores["before"].low > 50 + 20
    assert scores["after"].low <= 50 <= scores["after"].high
    assert abs(scores["after"].value - 50) < 10
    assert scores["control"].low > 50
    assert card.probe is not None
    assert control.probe is not None
    assert card.rank == control.rank == 1


def _ss(model: str, items: Path, out: Path) -> Any:
    (result,) = run(
        "stereoset", model=model, data=items, measure="cat-pseudo-likelihood", out=out, cache=False
    )
    return result.estimate("ss")
