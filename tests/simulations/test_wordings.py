"""Wordings as a random effect: what intervals and tests over items and wordings hold."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from tests.simulations.wordings import (
    SCENES,
    SKEWED,
    Question,
    Scene,
    held,
    rejected,
    shares_said,
)

pytestmark = pytest.mark.long
SETS = 1500


def three(share: float, sets: int = SETS) -> float:
    """Standard errors."""
    return 3 * sqrt(share * (1 - share) / sets)


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_intervals_hold_with_and_without_an_effect_of_wordings(scene: Scene) -> None:
    found = held(scene, SETS)
    assert found.mean >= 0.93
    assert found.spread >= 0.95 - three(0.95)
    assert found.another >= 0.93
    if not scene.spread:
        assert found.found <= 0.05 + three(0.05)


def test_neither_items_nor_wordings_alone_are_enough() -> None:
    """The t over items knows nothing of wordings; that over wordings, nothing of the items that
    all of them share."""
    large, none = (held(SCENES[f"{name}, 79 uneven terms"], 500) for name in ("large", "no effect"))
    assert large.items < 0.5
    assert large.mean > 0.9
    assert none.wordings < 0.85


def test_one_wording_far_off_is_more_than_six_can_show() -> None:
    """Known, and said in docs/uncertainty.md: with skewed effects the interval is too short."""
    assert 0.86 <= held(SKEWED, SETS).mean <= 0.93


@pytest.mark.parametrize(
    "name", ["large, 79 uneven terms", "some, 10 terms", "no effect, 24 terms"]
)
def test_a_mean_of_50_over_wordings_like_these_is_seldom_called_a_preference(name: str) -> None:
    """Six wordings that happen to lean to one side are no preference of the model; the test over
    items alone calls it one."""
    scene = replace(SCENES[name], lean=0.0)
    assert rejected(scene, SETS, lambda crossed: crossed.mean.p(50.0)) <= 0.06 + three(0.05) / 2
    if scene.spread > 0.5:
        assert rejected(scene, 300, lambda crossed: crossed.over_units.p(50.0)) > 0.4


@pytest.mark.parametrize("question", [Question(), Question(spread=0.4, both=0.2)])
def test_a_sweep_over_wordings_finds_no_preference_and_no_choice_where_there_is_none(
    question: Question,
) -> None:
    """The joint test and that of each choice, of 24 readings; wordings matter in the second."""
    said = shares_said(question, 200)
    assert max(said["joint"], said["form"], said["asking"]) <= 0.05 + three(0.05, 200)
    assert said["wording"] > 0.9 if question.spread else said["wording"] <= 0.05 + three(0.05, 200)


def test_what_moves_the_values_is_found_beside_wordings_that_matter() -> None:
    said = shares_said(Question(spread=0.3, lean=0.5, moved=0.5), 50)
    assert min(said["joint"], said["form"], said["wording"]) > 0.9
    assert said["asking"] <= 0.05 + three(0.05, 50)
