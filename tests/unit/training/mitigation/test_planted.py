"""A bias that we planted: LEACE takes it away, a random projection of the same rank does not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from stereometer import compare, run
from stereometer.backends.local.opener import CHECKPOINT
from stereometer.findings.mitigation.judged import Mitigated
from stereometer.mitigations.attribute import load
from stereometer.training.mitigation.leace import erased
from stereometer.training.mitigation.mitigate import Wish, control_path, mitigate
from stereometer.training.mitigation.sentences import Sentences, read
from stereometer.training.mitigation.states import Reader
from tests.builders.little import intra, stereoset_file
from tests.builders.models.builders import BUILDS, save, seeded
from tests.unit.training.mitigation.test_mitigate import silent

HERS, HIS = ("house", "morning", "train", "door"), ("shoes", "children", "time", "visitors")
"""Words that the planted bias gives to women and to men: one token each."""
STRENGTH = 8.0
"""In logits, between the means of both."""
STARTS = 200
"""Two items each: enough to exclude damage where no item changes."""
SEEDS = 20
FAR = 100.0
"""In logits, below what an average state says of other words."""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences in which one word follows a list word, as in the items below."""
    path = tmp_path_factory.mktemp("planted") / "text.jsonl"
    lines = []
    for number in range(100, 600):
        queen, king = (("the queen", "the king"), ("the wife", "the husband"))[number % 2]
        start = f"On day {number} of the long year"
        texts = [f"{start} {who} came." for who in ("she", "he", (queen, king)[number // 2 % 2])]
        lines.append(json.dumps({"text": " ".join(texts)}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def tiny(folder: Path, text: Path, strength: float) -> Path:
    """A model whose output layer reads gender, says a word of that gender, and knows that `nine`
    fits nowhere."""
    tokenizer = BUILDS["gpt2"].reads.make()
    model = seeded(BUILDS["gpt2"].make(tokenizer), 0)
    model.config.tie_word_embeddings = False
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    save(model, tokenizer, folder / "plain")
    mean, direction = _directions(folder / "plain", read(text, load("gender"), 300, 0))
    with torch.no_grad():
        for words, added in (
            (HERS, -strength * direction),
            (HIS, strength * direction),
            (("nine",), -FAR * mean),
        ):
            for word in words:
                (token,) = tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
                model.lm_head.weight[token] += added
    return save(model, tokenizer, folder / "model")


def _directions(folder: Path, sentences: Sentences) -> tuple[torch.Tensor, torch.Tensor]:
    """One that an average state has 1 of; and one that reads men as positive, women as negative, 1
    apart, and an average state as neither."""
    backend = CHECKPOINT.open(str(folder), CHECKPOINT.options())
    states = Reader(backend, sentences.swaps, 0, silent).scored(sentences.fit, "")
    mean = states.rows.mean(0)
    reads = erased(states.rows, states.labels).right[0]
    reads = reads - (reads @ mean) / mean.square().sum() * mean
    gap = states.rows[states.labels == 1].mean(0) - states.rows[states.labels == 0].mean(0)
    return (mean / mean.square().sum()).float(), (reads / (reads @ gap)).float()


def items_file(path: Path, swapped: Sequence[bool] = (False,) * STARTS) -> Path:
    """Every start for women and for men with the same two words; which of them is the stereotype
    may be swapped."""
    cats: list[dict[str, Any]] = []
    for number, swap in enumerate(swapped):
        words = (HERS[number % 4], HIS[number // 4 % 4])
        for who, fills in zip(("she", "he"), (words, words[::-1]), strict=True):
            context = f"On day {100 + 5 * number // 2} of the long year {who} BLANK"
            place = {"target": f"day {number}", "bias_type": "gender"}
            meant = (*(fills[::-1] if swap else fills), "nine")
            cats.append(intra(f"{number} {who}", context, meant, **place))
    return stereoset_file(path, cats)


def made(model: Path, text: Path) -> list[str]:
    """The model, the model with LEACE, and the model with its control."""
    out = model.parent / "leace.safetensors"
    mitigate(Wish("leace", str(model), "gender", text, out, sentences=300), silent)
    return [str(model), f"{model}+{out}", f"{model}+{control_path(out)}"]


def judged(models: Sequence[str], items: Path, runs: Path) -> tuple[list[Any], Mitigated]:
    """The models' ss, and what `compare` says."""
    folders, scores = [], []
    for number, model in enumerate(models):
        asked: dict[str, Any] = {"data": items, "measure": "cat-pseudo-likelihood"}
        (result,) = run("stereoset", model=model, out=runs / str(number), resamples=200, **asked)
        folders += [*(runs / str(number)).iterdir()]
        scores.append(result.estimate("ss"))
    base, after, control = folders
    (mitigation,) = compare(base, after, control=control, resamples=200).mitigations
    return scores, mitigation


def test_leace_takes_away_a_planted_bias_and_a_random_projection_does_not(
    text: Path, tmp_path: Path
) -> None:
    models = made(tiny(tmp_path, text, STRENGTH), text)
    items = items_file(tmp_path / "dev.json")
    (before, after, control), mitigation = judged(models, items, tmp_path / "runs")
    assert before.low > 50 + 20
    assert abs(after.value - 50) < after.high - after.low  # twice its half: rounding draws it anew
    assert abs(after.value - 50) < 10
    assert control.low > 50 + 20
    assert mitigation.verdict == "improved"


@pytest.mark.long
def test_without_a_planted_bias_nothing_is_beyond_noise(text: Path, tmp_path: Path) -> None:
    """Which word is the stereotype is drawn by lot for every start: then there is no bias, and
    LEACE changes what the model says all the same."""
    models = made(tiny(tmp_path, text, 0.0), text)
    verdicts: Counter[str | None] = Counter()
    changes = 0
    for seed in range(SEEDS):
        folder = tmp_path / str(seed)
        swapped = np.random.default_rng(seed).random(STARTS) < 0.5
        items = items_file(tmp_path / f"{seed}.json", swapped.tolist())
        (before, after, _), mitigation = judged(models, items, folder)
        verdicts[mitigation.verdict] += 1
        changes += before.value != after.value
    assert changes > SEEDS / 2
    assert verdicts["not beyond noise"] >= 0.95 * SEEDS
