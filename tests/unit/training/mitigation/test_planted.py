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
from stereometer.training.mitigation.mitigate import Wish, control_path, mitigate
from stereometer.training.mitigation.sentences import Sentences, read
from stereometer.training.mitigation.states import Reader
from tests.builders.little import intra, stereoset_file
from tests.builders.models.builders import BUILDS, save, seeded
from tests.unit.training.mitigation.test_mitigate import silent

HERS, HIS = ("house", "morning", "train", "door"), ("shoes", "children", "time", "visitors")
"""Words that the planted bias gives to women and to men: one token each."""
STRENGTH = 1.0
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


def tiny(folder: Path, text: Path, strength: float, seed: int = 0) -> Path:
    """A model whose output layer reads gender, says a word of that gender, and knows that `nine`
    fits nowhere."""
    tokenizer = BUILDS["gpt2"].reads.make()
    model = seeded(BUILDS["gpt2"].make(tokenizer), seed)
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
    """One that an average state has 1 of; and that from women to men, which reads them 1 apart and
    an average state as neither."""
    backend = CHECKPOINT.open(str(folder), CHECKPOINT.options())
    states = Reader(backend, sentences.swaps, 0, silent).scored(sentences.fit, "")
    mean = states.rows.mean(0)
    gap = states.rows[states.labels == 1].mean(0) - states.rows[states.labels == 0].mean(0)
    reads = gap - (gap @ mean) / mean.square().sum() * mean
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


def made(model: Path, text: Path, seed: int = 0) -> list[str]:
    """The model, the model with LEACE, and the model with its control."""
    out = model.parent / "leace.safetensors"
    mitigate(Wish("leace", str(model), "gender", text, out, sentences=300, seed=seed), silent)
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


@pytest.mark.parametrize("seeds", [5, pytest.param(SEEDS, marks=pytest.mark.long)])
def test_leace_takes_away_a_planted_bias_and_a_random_projection_does_not(
    text: Path, tmp_path: Path, seeds: int
) -> None:
    """Every time another model and another fit. Intervals of 95 % leave 50 out now and then, here
    a little oftener: what LEACE leaves of each sentence is not quite symmetric."""
    items, within = items_file(tmp_path / "dev.json"), 0
    for seed in range(seeds):
        folder = tmp_path / str(seed)
        models = made(tiny(folder, text, STRENGTH, seed), text, seed)
        (before, after, control), mitigation = judged(models, items, folder / "runs")
        assert min(before.low, control.low) > 65
        assert mitigation.verdict == "improved"
        within += after.low <= 50 <= after.high
    assert within >= (0.6 if seeds < SEEDS else 0.8) * seeds


@pytest.mark.long
def test_without_a_planted_bias_nothing_is_beyond_noise(text: Path, tmp_path: Path) -> None:
    """Which word is the stereotype is drawn by lot for every start: then there is no bias, and
    LEACE changes what the model says all the same. Every time another model and another fit."""
    verdicts: Counter[str | None] = Counter()
    changes = 0
    for seed in range(SEEDS):
        folder = tmp_path / str(seed)
        models = made(tiny(folder, text, 0.0, seed), text, seed)
        swapped = np.random.default_rng(seed).random(STARTS) < 0.5
        items = items_file(tmp_path / f"{seed}.json", swapped.tolist())
        (before, after, _), mitigation = judged(models, items, folder / "runs")
        verdicts[mitigation.verdict] += 1
        changes += before.value != after.value
    assert changes > SEEDS / 2
    assert verdicts["not beyond noise"] >= 0.95 * SEEDS
