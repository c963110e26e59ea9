"""A bias that we planted: LEACE takes it away, a random projection of the same rank does not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import stereometer
from stereometer import compare, run
from stereometer.models.local.opener import CHECKPOINT
from stereometer.wings.mitigation.attribute import load
from stereometer.wings.mitigation.methods.mitigate import control_path
from stereometer.wings.mitigation.methods.sentences import TrainingSentences, read
from stereometer.wings.mitigation.methods.states import StateReader, States
from stereometer.wings.mitigation.verdicts.judged import Mitigated
from tests.builders.little import intra, stereoset_file
from tests.builders.models.builders import BUILDS, save, seeded
from tests.wings.mitigation.test_mitigate import silent

pytestmark = pytest.mark.long

HERS, HIS = ("house", "morning", "train", "door"), ("table", "children", "time", "evening")
"""Words that the planted bias gives to women and to men: one token each."""
STRENGTH = 1.3
"""In logits, between the means of both."""
STARTS = 200
"""Two items each: enough to exclude damage where no item changes."""
SEEDS = {"best classifier": 5, "between means": 12, "none": 8}
"""Every one another model and another fit: more where models differ more."""
DIFFERING = 16
"""Directions, of 32, in which states of women and men differ: words do not read these by
themselves."""
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


@cache
def plain(text: Path, seed: int) -> tuple[Any, States]:
    """A model of random weights, and its states in this text."""
    torch.manual_seed(seed)
    tokenizer = BUILDS["gpt2"].reads.make()
    model = seeded(BUILDS["gpt2"].make(tokenizer), seed)
    model.config.tie_word_embeddings = False
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    folder = save(model, tokenizer, text.parent / f"plain {seed}")
    return model, _states(folder, read(text, load("gender"), 300, 0))


def tiny(folder: Path, text: Path, seed: int, planted: str = "") -> Path:
    """A model that knows that `nine` fits nowhere. With a planted bias, that is all that its words
    have to do with gender."""
    model, states = plain(text, seed)
    model, tokenizer = deepcopy(model), BUILDS["gpt2"].reads.make()
    rows = model.lm_head.weight.detach()
    (nine,) = tokenizer(" nine", add_special_tokens=False)["input_ids"]
    mean, differing = states.rows.mean(0), _differing(states)
    rows[nine] -= (FAR * _one_at(mean, mean)).float()
    if planted:
        direction = DIRECTIONS[planted](states)
        direction -= (direction @ mean) * _one_at(mean - mean @ differing, mean)
        for words, sign in ((HERS, -1), (HIS, 1)):
            for word in words:
                (token,) = tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
                own = rows[token].double()
                rows[token] = (own - own @ differing + sign * STRENGTH * direction).float()
    return save(model, tokenizer, folder / "model")


def _differing(states: States) -> torch.Tensor:
    """The projection onto the directions in which the states of women and men differ most."""
    directions = torch.linalg.svd(states.differences(), full_matrices=False).Vh[:DIFFERING]
    onto: torch.Tensor = directions.T @ directions
    return onto


def _states(folder: Path, sentences: TrainingSentences) -> States:
    backend = CHECKPOINT.open(str(folder), CHECKPOINT.options())
    return StateReader(backend, sentences.swaps, 0, silent).scored(sentences.fit, "")


def _one_at(direction: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    """So long that it reads 1 there."""
    return direction / (direction @ state)


def _gap(states: States) -> torch.Tensor:
    """From the mean of women to that of men."""
    return states.rows[states.labels == 1].mean(0) - states.rows[states.labels == 0].mean(0)


def _between_means(states: States) -> torch.Tensor:
    return _one_at(_gap(states), _gap(states))


def _best_classifier(states: States) -> torch.Tensor:
    """Fisher's: between the means, seen against the spread within each class."""
    parts = [states.rows[states.labels == at] for at in (0, 1)]
    within = torch.cat([part - part.mean(0) for part in parts])
    spread = torch.linalg.pinv(torch.cov(within.T), rtol=1e-10, hermitian=True)
    return _one_at(spread @ _gap(states), _gap(states))


DIRECTIONS = {"best classifier": _best_classifier, "between means": _between_means}


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
    order: dict[str, Any] = {"model": model, "attribute": "gender", "text": text, "out": out}
    stereometer.mitigate("leace", **order, sentences=300, seed=seed, progress=silent)
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
    """Intervals of 95 % leave 50 out now and then."""
    items, within = items_file(tmp_path / "dev.json"), 0
    for seed in range(SEEDS["best classifier"]):
        folder = tmp_path / str(seed)
        models = made(tiny(folder, text, seed, "best classifier"), text, seed)
        (before, after, control), mitigation = judged(models, items, folder / "runs")
        assert min(before.low, control.low) > 60
        assert abs(after.value - 50) < 3  # .75 at the most; of 12 models the deviation is .4
        assert mitigation.verdict == "improved"
        within += after.low <= 50 <= after.high
    assert within >= 0.75 * SEEDS["best classifier"]  # all 5


def test_a_bias_along_any_direction_goes_on_average(text: Path, tmp_path: Path) -> None:
    """LEACE leaves nothing of the means. What is left of each sentence need not be symmetric, so
    that 50 is left out oftener than an interval of 95 % allows; in the mean it is met."""
    items, values, within = items_file(tmp_path / "dev.json"), [], 0
    for seed in range(SEEDS["between means"]):
        folder = tmp_path / str(seed)
        models = made(tiny(folder, text, seed, "between means"), text, seed)
        (before, after, control), mitigation = judged(models, items, folder / "runs")
        assert min(before.low, control.low) > 60
        assert mitigation.verdict == "improved"
        values.append(after.value)
        within += after.low <= 50 <= after.high
    assert abs(np.mean(values) - 50) < 2  # 1.1; a standard error is .67
    assert within >= SEEDS["between means"] / 4  # 6 of 12; 64 % of many models, give or take 14


def test_without_a_planted_bias_nothing_is_beyond_noise(text: Path, tmp_path: Path) -> None:
    """Which word is the stereotype is drawn at random for every start: then there is no bias, and
    LEACE changes what the model says all the same."""
    verdicts: Counter[str | None] = Counter()
    changes = 0
    for seed in range(SEEDS["none"]):
        folder = tmp_path / str(seed)
        models = made(tiny(folder, text, seed), text, seed)
        swapped = np.random.default_rng(seed).random(STARTS) < 0.5
        items = items_file(tmp_path / f"{seed}.json", swapped.tolist())
        (before, after, _), mitigation = judged(models, items, folder / "runs")
        verdicts[mitigation.verdict] += 1
        changes += before.value != after.value
    assert changes > SEEDS["none"] / 2  # 7 of 8
    assert verdicts["not beyond noise"] >= 0.75 * SEEDS["none"]  # 7 of 8, where 5 % may err
