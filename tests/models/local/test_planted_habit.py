"""A real model with a habit of the first place planted in its weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from stereometer.core.asking.options import bare
from stereometer.core.runs.stored import Run
from stereometer.core.types import Score
from stereometer.models.local.causal import Causal
from stereometer.models.local.checkpoint import LoadingOptions, load
from tests.builders.models.zoo import Zoo
from tests.builders.weighers import measured

HABIT, ABOUT = 6.0, 8.0
"""What the first place has more, and what both options have so that the answer is about them."""
ITEMS = 40


def with_habit(folder: Path, habit: float) -> Causal:
    """The output layer gives every token that stands for A or B more, and A still more."""
    more = {"A": ABOUT + habit, "B": ABOUT}
    found = load(str(folder), LoadingOptions())
    plain = found.model.lm_head
    layer = torch.nn.Linear(plain.in_features, plain.out_features)
    with torch.no_grad():
        layer.weight.copy_(plain.weight)
        layer.bias.zero_()
        for token in range(len(found.tokenizer)):
            layer.bias[token] = more.get(bare(found.tokenizer.decode([token])), 0.0)
    found.model.lm_head = layer
    return Causal(found)


def run(model: Any, measure: str, folder: Path) -> tuple[Any, dict[str, Score]]:
    ran = measured(model, measure, folder, limit=ITEMS)
    return ran.result, {score.item: score for score in Run(ran.result, ran.folder).read()}


@pytest.mark.long
@pytest.mark.parametrize("shape", ["pair", "cat"])
def test_a_habit_in_the_weights_is_found_and_the_preference_is_as_it_was(
    zoo: Zoo, tmp_path: Path, shape: str
) -> None:
    folder = zoo.folder("gpt2")
    models = {habit: with_habit(folder, habit) for habit in (0.0, HABIT)}
    (plain, before), (biased, after) = (
        run(model, f"{shape}-graded-choice", tmp_path / str(habit))
        for habit, model in models.items()
    )
    effects = [result.estimate("position_effect").value for result in (plain, biased)]
    assert effects[1] - effects[0] == pytest.approx(HABIT, abs=1e-3)
    assert len(after) == ITEMS
    for item, score in after.items():
        if score.skipped is None and before[item].skipped is None:
            for name, value in before[item].derived.items():
                if name.startswith("preference"):
                    assert score.derived[name] == pytest.approx(value, abs=1e-3)
    counted, _ = run(models[HABIT], f"{shape}-forced-choice", tmp_path / "counted")
    name = "ss" if shape == "cat" else "pair_preference"
    assert biased.estimate(name).value is not None
    assert counted.estimate(name).value is None
