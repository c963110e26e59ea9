"""Intervals that hold at every look: what they are made of, and what they come to in the end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.stats.anytime import LEAST, PRIOR, Betting, anytime_interval, largest_t

GRID = np.linspace(0, 1, 101)


def after(values: list[float], population: int, means: np.ndarray = GRID) -> Betting:
    bets = Betting(means, population)
    for value in values:
        bets.add(value)
    return bets


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=60))
def test_all_items_leave_the_mean_that_they_have(values: list[float]) -> None:
    bets, mean = after(values, len(values)), float(np.mean(values))
    certain = 1e-9 / len(values) + 1e-12
    assert np.array_equal(bets.above == np.inf, mean - certain > GRID)
    assert np.array_equal(bets.below == np.inf, mean + certain < GRID)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=60), st.integers(0, 40))
def test_a_mean_that_the_rest_cannot_give_any_more_is_refuted(
    values: list[float], left: int
) -> None:
    population = len(values) + left
    bets = after(values, population)
    least, most = sum(values) / population, (sum(values) + left) / population
    assert np.all(bets.above[least - 1e-6 > GRID] == np.inf)
    assert np.all(bets.below[most + 1e-6 < GRID] == np.inf)
    assert np.all(np.isfinite(bets.above[(least + 1e-6 < GRID) & (most - 1e-6 > GRID)]))


def test_the_capital_never_gets_negative_and_is_fair_at_the_mean() -> None:
    """Over all orders of a small set the capital at its mean is 1 on average."""
    rng = np.random.default_rng(0)
    values = rng.permuted(np.tile([1.0, 1.0, 0.5, 0.0, 0.0, 0.0], (40_000, 1)), axis=1)
    bets = Betting(np.full(len(values), values[0].mean()), values.shape[1])
    for item in range(values.shape[1] - 1):
        bets.add(values[:, item])
        assert bets._above.min() > 0
        assert bets._below.min() > 0
        finite = [np.where(np.isfinite(c), c, 0.0).mean() for c in (bets._above, bets._below)]
        assert max(finite) <= 1.02


def test_an_item_that_lies_on_the_mean_in_question_moves_it_to_neither_side() -> None:
    plain, filled = Betting(GRID, 40), Betting(GRID, 60)
    for number in range(40):
        plain.add(float(number % 4 > 0))
        filled.add(float(number % 4 > 0))
    for _ in range(20):
        filled.add(filled.means)
    assert plain.refuted(0.05) == filled.refuted(0.05)


def e_value(t: float, n: int) -> float:
    r = PRIOR / (n + PRIOR)
    e: float = np.sqrt(r) * ((1 + t**2 / (n - 1)) / (1 + r * t**2 / (n - 1))) ** (n / 2)
    return e


@pytest.mark.parametrize("n", [5, 12, 79])
def test_the_interval_ends_where_e_is_twenty(n: int) -> None:
    t = largest_t(n, 0.05)
    assert t is not None
    assert e_value(t, n) == pytest.approx(20)
    values = np.random.default_rng(1).normal(58, 5, n)
    ends = anytime_interval(values, 0.05)
    assert ends is not None
    error = values.std(ddof=1) / np.sqrt(n)
    for end in ends:
        assert e_value((values.mean() - end) / error, n) == pytest.approx(20)


def test_few_values_and_values_that_are_all_alike_say_nothing() -> None:
    assert anytime_interval(np.arange(LEAST - 1.0), 0.05) is None
    assert anytime_interval(np.full(30, 60.0), 0.05) is None
