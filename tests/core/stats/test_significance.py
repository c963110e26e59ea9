"""Tests and corrections against scipy, plain definitions and exhaustive enumeration."""

from __future__ import annotations

from math import comb
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from stereometer.core.stats.means import StudentMean
from stereometer.core.stats.tests import (
    adjusted,
    bootstrap_p,
    detectable,
    holm,
    mcnemar,
    sign_flip,
    sign_test,
)
from tests.builders import reference
from tests.strategies import FEW, MODERATE

PS = st.lists(st.floats(0, 1), min_size=1, max_size=12)
COUNTS = st.integers(0, 60)


@MODERATE
@given(PS)
def test_holm_equals_its_definition(ps: list[float]) -> None:
    assert holm(ps) == pytest.approx(reference.holm(ps))


@MODERATE
@given(PS)
def test_holm_keeps_the_order_and_never_lowers_a_p(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(raw <= new <= 1 for raw, new in zip(ps, adjusted, strict=True))
    pairs = sorted(zip(ps, adjusted, strict=True))
    assert [new for _, new in pairs] == sorted(new for _, new in pairs)


@MODERATE
@given(PS, st.floats(0, 1))
def test_another_test_never_makes_holm_kinder(ps: list[float], more: float) -> None:
    assert all(later >= before for before, later in zip(holm(ps), holm([*ps, more]), strict=False))


def test_holm_of_nothing_is_nothing_and_of_one_is_itself() -> None:
    assert holm([]) == []
    assert holm([0.03]) == [0.03]


@MODERATE
@given(COUNTS, COUNTS)
def test_the_sign_test_counts_the_tails_of_a_fair_coin(wins: int, losses: int) -> None:
    n, few = wins + losses, min(wins, losses)
    tail = sum(comb(n, k) for k in range(few + 1)) / 2**n
    assert sign_test(wins, losses) == pytest.approx(min(1.0, 2 * tail))


@MODERATE
@given(COUNTS, COUNTS)
def test_mcnemar_is_the_sign_test_of_the_pairs_that_changed_and_has_no_side(
    gained: int, lost: int
) -> None:
    assert mcnemar(gained, lost) == mcnemar(lost, gained) == sign_test(gained, lost)


@MODERATE
@given(
    st.lists(st.floats(-50, 50), min_size=2, max_size=30).filter(
        lambda values: np.std(values) > 1e-3
    )
)
def test_t_equals_scipys(values: list[float]) -> None:
    assert StudentMean.of(np.array(values)).p() == pytest.approx(
        ttest_1samp(values, 0).pvalue, abs=1e-12
    )


def test_t_of_values_without_spread() -> None:
    assert StudentMean.of(np.zeros(5)).p() == 1.0
    assert StudentMean.of(np.full(5, 0.5)).p() == 1.0  # alike is not certain
    assert StudentMean.of(np.full(7, 1e6 / 3)).p() == 1.0


# --------------------------------------------------------------------------------------- sign flips

STEPS = st.sampled_from([-0.5, -0.25, 0.0, 0.25, 0.5])


@FEW
@given(st.lists(STEPS, min_size=4, max_size=6), st.lists(STEPS, min_size=4, max_size=6))
def test_sign_flips_are_close_to_trying_every_sign(one: list[float], other: list[float]) -> None:
    """The normal curve runs between `beyond` and `at least as far`, give or take what so few flips
    allow."""
    groups = [one, other]
    beyond, at_least = reference.flips(groups)
    assert beyond - 0.12 <= sign_flip([np.array(group) for group in groups]) <= at_least + 0.12


def test_four_items_that_agree_in_four_groups_are_no_proof() -> None:
    groups = [[0.5]] * 4
    assert reference.flips(groups) == (0, 2 / 16)
    assert sign_flip([np.array(group) for group in groups]) == pytest.approx(2 / 16)


def test_sign_flips_of_larger_groups_come_closer() -> None:
    rng = np.random.default_rng(4)
    groups = [rng.choice([-0.5, 0.0, 0.5], size, p=[0.3, 0.2, 0.5]) for size in (30, 45, 60)]
    seen = abs(sum(group.mean() for group in groups))
    flipped = [
        abs(sum((group * rng.choice([-1, 1], group.size)).mean() for group in groups))
        for _ in range(8_000)
    ]
    assert sign_flip(groups) == pytest.approx(np.mean(np.array(flipped) >= seen), abs=0.015)


@MODERATE
@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 5))
def test_one_group_of_equal_steps_is_an_exact_sign_test(up: int, down: int, still: int) -> None:
    group = np.array([0.5] * up + [-0.5] * down + [0.0] * still)
    if group.size:
        assert sign_flip([group]) == pytest.approx(sign_test(up, down))


def test_no_deviation_is_no_evidence() -> None:
    assert sign_flip([np.zeros(4), np.zeros(2)]) == 1.0


@MODERATE
@given(st.lists(st.lists(STEPS, min_size=1, max_size=9), min_size=1, max_size=4))
def test_turning_every_sign_changes_nothing(groups: list[list[float]]) -> None:
    arrays = [np.array(group) for group in groups]
    assert sign_flip(arrays) == pytest.approx(sign_flip([-one for one in arrays]))


# ------------------------------------------------------------------------------------------- others


def test_the_bootstrap_p_counts_the_smaller_side_twice() -> None:
    assert bootstrap_p(np.array([-1.0] * 10 + [1.0] * 989)) == pytest.approx(2 * 11 / 1000)


def test_the_bootstrap_p_is_never_zero_and_never_above_one() -> None:
    assert bootstrap_p(np.linspace(1, 2, 999)) == pytest.approx(2 / 1000)
    assert bootstrap_p(np.ones(999)) == 1.0  # alike is not certain
    assert bootstrap_p(np.zeros(999)) == 1.0


@pytest.mark.parametrize(("level", "power"), [(0.95, 0.8), (0.99, 0.9)])
def test_a_detectable_difference_is_found_with_the_stated_power(level: float, power: float) -> None:
    """Were it the true difference, a normal estimate would pass the critical value this often."""
    spread, normal = 2.5, NormalDist()
    critical = normal.inv_cdf((1 + level) / 2) * spread
    assert 1 - NormalDist(detectable(spread, level, power), spread).cdf(critical) == pytest.approx(
        power
    )


@FEW
@given(st.lists(st.tuples(st.none() | st.floats(0, 1), st.sampled_from(["a", "b", None]))))
def test_p_is_adjusted_within_families_where_there_is_one(
    rows: list[tuple[float | None, str | None]],
) -> None:
    after = adjusted([p for p, _ in rows], [family for _, family in rows])
    for name in ("a", "b"):
        places = [at for at, (p, family) in enumerate(rows) if family == name and p is not None]
        ps = [p for p, family in rows if family == name and p is not None]
        assert [after[at] for at in places] == holm(ps)
    assert all(after[at] is None for at, row in enumerate(rows) if None in row)
