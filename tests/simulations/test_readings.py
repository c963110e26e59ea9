"""The joint test over readings: its size where there is no preference, and its power."""

from __future__ import annotations

from math import sqrt

import pytest

from tests.simulations.readings import rejected


def allowed(sets: int) -> float:
    """5 %, and three standard errors."""
    return 0.05 + 3 * sqrt(0.05 * 0.95 / sets)


@pytest.mark.parametrize("terms", [10, 24, 79])
def test_size(terms: int) -> None:
    assert max(rejected(1500, 499, terms).values()) <= allowed(1500)


def test_power() -> None:
    """79 terms that lean by 0.12 of an item's spread on average, and by half of that."""
    large, small = rejected(200, 499, 79, 0.12), rejected(200, 499, 79, 0.06)
    assert large["median"] > 0.9
    assert 0.3 < small["median"] < large["median"]
