"""Planted preferences are recovered, whatever habit of the place is planted beside them."""

from __future__ import annotations

import pytest

from tests.simulations.graded import Planted, coverage
from tests.simulations.test_cats import slack

SETS = 400


@pytest.mark.long
@pytest.mark.parametrize("items", [30, 120])
@pytest.mark.parametrize("habit", [0.0, -6.0])
@pytest.mark.parametrize("preference", [0.0, 0.4])
def test_intervals_hold_the_preference_and_the_habit(
    preference: float, habit: float, items: int
) -> None:
    share, place = coverage(Planted(preference, habit), items, SETS)
    assert share >= 0.945 - slack(0.95, SETS)
    assert abs(place - 0.95) <= slack(0.95, SETS)
