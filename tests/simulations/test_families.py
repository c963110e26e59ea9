"""Many tests at once are seldom wrong together, and a bar is seldom decided by a model at it."""

from __future__ import annotations

import pytest

from stereometer.shapes.verdicts import FIXED, HEADLINE
from tests.simulations import families
from tests.simulations.test_cats import SETS, slack


@pytest.mark.parametrize("sets", [80, pytest.param(800, marks=pytest.mark.long)])
def test_headline_slices_are_wrong_together_no_more_often_than_one(sets: int) -> None:
    wrong = families.familywise(sets)
    assert max(wrong[HEADLINE], wrong[FIXED]) <= 0.055 + slack(0.05, sets)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize(("bar", "true"), [("ss<=55", 55.0), ("|ss-50|<=5", 55.0)])
def test_a_model_at_the_bar_seldom_meets_or_misses_it(bar: str, true: float, sets: int) -> None:
    met, missed = families.bar_decided(bar, true, sets)
    assert max(met, missed) <= 0.03 + slack(0.025, sets)
