"""Spearman's rho, its draws and its test, against scipy and against counting."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from stereometer.core.stats.ranks import EXACT, permutation_p, resampled_points, spearman
from tests.strategies import MODERATE

POINTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=9)


@MODERATE
@given(POINTS)
def test_rho_is_scipys_ties_and_all(points: list[tuple[int, int]]) -> None:
    x, y = np.array(points, dtype=float).T
    ours = float(spearman(x, y))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def test_many_rows_are_many_correlations() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(20, 6)), rng.normal(size=(20, 6))
    assert spearman(x, y) == pytest.approx(
        [spearmanr(a, b).statistic for a, b in zip(x, y, strict=True)]
    )


def test_few_points_are_put_in_every_order() -> None:
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 3, 2, 5, 4])
    reached = abs(spearmanr(x, y).statistic)
    orders = list(permutations(range(5)))
    counted = sum(
        abs(spearmanr(x, y[list(order)]).statistic) >= reached - 1e-12 for order in orders
    ) / len(orders)
    assert permutation_p(x, y, 100, np.random.default_rng(0)) == pytest.approx(counted)


def test_many_points_are_shuffled_and_p_is_never_zero() -> None:
    x = np.arange(EXACT + 3.0)
    assert permutation_p(x, x, 200, np.random.default_rng(0)) == pytest.approx(1 / 201)


def test_draws_without_spread_are_left_out() -> None:
    x = np.array([1.0, 1.0, 2.0])
    found = resampled_points(x, x, 500, np.random.default_rng(0))
    assert 0 < found.size < 500
    assert not np.isnan(found).any()
