"""Wilson, percentiles and the quick ways to resample, against scipy and exact enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import median
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from stereometer.core.stats.intervals import (
    generator,
    percentile,
    resampled_clusters,
    resampled_means,
    resampled_medians,
    resampled_tallies,
    wilson,
)
from tests.builders import reference
from tests.strategies import MODERATE

DRAWS = 40_000


def assert_drawn_from(draws: Counter[Any], expected: Mapping[Any, float]) -> None:
    """Every share within five standard errors, and nothing that cannot be drawn."""
    total = draws.total()
    assert set(draws) <= set(expected)
    for value, share in expected.items():
        assert draws[value] / total == pytest.approx(
            share, abs=5 * np.sqrt(share * (1 - share) / total) + 1e-12
        )


@MODERATE
@given(
    st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.sampled_from([0.5, 0.9, 0.95, 0.99]),
)
def test_wilson_equals_scipys(counts: tuple[int, int], level: float) -> None:
    won, n = counts
    expected = binomtest(won, n).proportion_ci(level, "wilson")
    assert wilson(won, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


@MODERATE
@given(st.integers(1, 500), st.integers(0, 1000))
def test_wilson_takes_half_points_and_holds_the_share(n: int, halves: int) -> None:
    halves = min(halves, 2 * n)
    low, high = wilson(halves / 2, n, 0.95)
    assert 0 <= low <= halves / (2 * n) + 1e-12
    assert halves / (2 * n) - 1e-12 <= high <= 1


@pytest.mark.parametrize(
    "values",
    [
        [1.0],
        [1.0, 2.0],
        [0.0, 1.0, 5.0],
        [0.0, 1.0, 1.0, 4.0],
        [0.0, 1.0, 3.0, 7.0, 9.0],
        [1.0, 1.0, 2.0, 4.0, 8.0, 9.0],
    ],
)
def test_medians_of_resamples_are_drawn_from_their_exact_distribution(values: list[float]) -> None:
    drawn = resampled_medians(np.array(values), DRAWS, np.random.default_rng(0))
    assert_drawn_from(Counter(drawn.tolist()), reference.distribution(values, median))


@pytest.mark.parametrize("n", [51, 52])
def test_medians_of_long_lists_equal_explicit_resampling(n: int) -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(size=n)
    slow = np.median(rng.choice(values, (DRAWS, n)), axis=1)
    quick = resampled_medians(values, DRAWS, rng)
    shares = [0.025, 0.25, 0.5, 0.75, 0.975]
    assert np.quantile(quick, shares) == pytest.approx(
        np.quantile(slow, shares), abs=0.1 * slow.std()
    )


def test_medians_do_not_depend_on_the_order_of_the_values() -> None:
    values = np.array([3.0, 1.0, 2.0, 9.0])
    first, second = (
        resampled_medians(of, 50, np.random.default_rng(1)) for of in (values, values[::-1])
    )
    assert first.tolist() == second.tolist()


def test_tallies_are_drawn_as_items_would_be() -> None:
    """Three items in two of four categories: every one of the 27 resamples, tallied."""
    kinds, drawn = resampled_tallies(np.array([0, 2, 0, 1]), DRAWS, np.random.default_rng(0))
    assert kinds.tolist() == [1, 3]
    expected = reference.distribution([1, 1, 3], lambda items: (items.count(1), items.count(3)))
    assert_drawn_from(Counter(map(tuple, drawn.tolist())), expected)


def test_means_of_few_items_are_drawn_widened_and_a_single_item_borrows_the_spread_of_all() -> None:
    """Three items 0, 0, 1 and one item 0: every resample of each, by hand."""
    (means,) = resampled_means(
        np.array([[2, 1], [1, 0]]), [np.array([0.0, 1.0])], DRAWS, np.random.default_rng(0), 0.95
    )
    wider = reference.student(2, 0.95)  # two degrees of freedom: three items about their mean

    def three(items: Sequence[float]) -> float:
        return round(1 / 3 + (sum(items) / 3 - 1 / 3) * wider * sqrt(3 / 2), 9)

    assert_drawn_from(
        Counter(means[:, 0].round(9).tolist()), reference.distribution([0.0, 0.0, 1.0], three)
    )
    assert_drawn_from(
        Counter(means[:, 1].round(9).tolist()),
        {round(-wider / 4, 9): 3 / 4, round(3 * wider / 4, 9): 1 / 4},
    )


def test_several_means_are_of_the_same_items() -> None:
    left, right = resampled_means(
        np.array([[3, 4, 2]]),
        [np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.5, 0.0])],
        500,
        np.random.default_rng(0),
        0.95,
    )
    assert left + right == pytest.approx(np.ones((500, 1)))


def test_clusters_are_drawn_with_replacement_as_many_as_there_are() -> None:
    drawn = resampled_clusters(3, DRAWS, np.random.default_rng(0))
    expected = reference.distribution(
        [0, 1, 2], lambda items: tuple(items.count(one) for one in (0, 1, 2))
    )
    assert_drawn_from(Counter(map(tuple, drawn.tolist())), expected)


def test_the_percentile_interval_is_the_middle_of_the_draws() -> None:
    assert percentile(np.arange(101.0), 0.9) == pytest.approx((5.0, 95.0))


def test_a_stream_is_fixed_by_seed_slice_and_purpose() -> None:
    def first(*of: Any) -> float:
        return float(generator(*of).random())

    assert first(0, {"a": "x", "b": "y"}) == first(0, {"b": "y", "a": "x"})
    assert len({first(0, {}), first(1, {}), first(0, {"a": "x"}), first(0, {}, "compare")}) == 4
