"""Krippendorff's alpha: his own worked example, a slow coincidence matrix, and what has no
value."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.stats.agreement import alpha
from tests.builders.sure import bounds
from tests.strategies import MODERATE

RNG = np.random.default_rng(0)
OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
"""Krippendorff (2011), Computing Krippendorff's alpha-reliability, example C: four observers,
twelve units, gaps."""


def by_hand(units: list[list[int]]) -> float | None:
    """From the coincidence matrix, pair by pair."""
    table: dict[tuple[int, int], float] = {}
    for unit in units:
        for a, b in permutations(range(len(unit)), 2):
            table[unit[a], unit[b]] = table.get((unit[a], unit[b]), 0.0) + 1 / (len(unit) - 1)
    names = {a for a, _ in table}
    totals = {name: sum(value for (a, _), value in table.items() if a == name) for name in names}
    n = sum(totals.values())
    expected = (
        sum(totals[a] * totals[b] for a in names for b in names if a != b) / (n - 1)
        if n > 1
        else 0.0
    )
    observed = sum(value for (a, b), value in table.items() if a != b)
    return 1 - observed / expected if expected else None


def test_the_example_of_its_author() -> None:
    rows = [line.split() for line in OBSERVERS]
    units = [[label for row in rows if (label := row[at]) != "."] for at in range(12)]
    found = alpha({at: [unit] for at, unit in enumerate(units)}, 200, 0.95, RNG)
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert (found.units, found.labels) == (11, 40)
    low, value, high = bounds(found)
    assert low < value <= high


@MODERATE
@given(st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=8))
def test_as_the_coincidence_matrix_says(units: list[list[int]]) -> None:
    found = alpha({at: [unit] for at, unit in enumerate(units)}, 100, 0.95, RNG)
    slow = by_hand(units)
    if slow is None:
        assert found.value is None
        assert found.why
    else:
        assert found.value == pytest.approx(slow)


def test_a_single_cluster_has_no_interval() -> None:
    found = alpha({"one": [["a", "b"], ["a", "a"]]}, 100, 0.95, RNG)
    assert found.value is not None
    assert (found.low, found.high) == (None, None)
