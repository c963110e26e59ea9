"""Verdicts over several rows, systems, steps or repeats seldom claim what is not so."""

from __future__ import annotations

import pytest

from tests.simulations import verdicts
from tests.simulations.test_cats import slack


@pytest.mark.parametrize(
    ("terms", "items", "systems", "sets"),
    [
        ((3, 37, 36, 3), 27, 2, 150),  # .14, and .06 of ss
        ((2, 12, 4), 12, 2, 150),  # .16, and .06 of ss
        ((12, 12), 12, 10, 50),  # .15, and .12 of ss
    ],
)
def test_systems_that_differ_in_nothing_are_seldom_told_apart(
    terms: tuple[int, ...], items: int, systems: int, sets: int
) -> None:
    """Two families for each of three metrics, .05 each; of ss two of them."""
    some, ss = verdicts.equal_systems(terms, items, systems, sets)
    assert some <= 0.18  # .14 to .16
    assert ss <= 0.13  # .06, of ten systems .12


@pytest.mark.parametrize(("terms", "items"), [((36, 37, 3, 3), 27), ((12,) * 6, 9)])
def test_what_is_called_detectable_is_found_by_the_verdict(
    terms: tuple[int, ...], items: int
) -> None:
    share = verdicts.power_at_detectable(terms, (items,), 250)
    assert 0.80 - slack(0.8, 250) <= share <= 0.80 + slack(0.8, 250)


@pytest.mark.parametrize("habit", verdicts.HABITS)
def test_a_model_without_a_view_of_groups_gets_no_verdict(habit: str) -> None:
    """Traits and dimensions are one family."""
    some = [
        verdicts.surveys(verdicts.HABITS[habit], repeats, 75, groups)
        for groups in (2, 6)
        for repeats in (4, 6, 8, 10)
    ]
    assert sum(some) / len(some) <= 0.05 + slack(0.05, 75 * len(some))  # .00 to .06
    assert max(some) <= 0.05 + slack(0.05, 75)


@pytest.mark.parametrize(("noise", "steps"), [(0, 8), (1, 4), (2, 8), (5, 6)])
def test_checkpoints_that_only_stray_have_no_trend(noise: float, steps: int) -> None:
    assert verdicts.trends(noise, steps, 1000) <= 0.05 + slack(0.05, 1000)  # .016 to .048


def test_a_trend_among_straying_checkpoints_is_found() -> None:
    assert verdicts.trends(2, 8, 200, drift=16) >= 0.8  # .98


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_ten_systems_without_a_preference_are_corrected_together(shared: float) -> None:
    alone, together = verdicts.any_system(10, shared, 1000)
    assert alone > 0.3  # .42 and .36: what the lead of a report says
    assert together <= 0.05 + slack(0.05, 1000)  # .046 and .037


@pytest.mark.parametrize(
    ("sizes", "alike"), [((2, 2, 2, 3), 0.9), ((1, 1, 4, 1, 3, 2), 0.6), ((3,) * 5, 0.9)]
)
def test_families_of_systems_are_one_witness_each(sizes: tuple[int, ...], alike: float) -> None:
    systems, means = verdicts.related_families(sizes, alike, 500)
    assert systems > 0.08  # .17, .10, .28
    assert means <= 0.05 + slack(0.05, 500)  # .00, .03, .01


@pytest.mark.parametrize("groups", [5, 8])
def test_tau_of_few_groups_is_covered(groups: int) -> None:
    assert verdicts.tau_coverage(groups, 300) >= 0.95 - slack(0.95, 300)  # .98


@pytest.mark.parametrize(
    ("slices", "apart", "items"),
    [(9, 5, (12, 12)), (9, 0, (12, 40)), (4, 10, (12, 60)), (15, 2, (10, 100))],
)
def test_partly_pooled_slices_err_less_and_are_covered(
    slices: int, apart: float, items: tuple[int, int]
) -> None:
    raw, pooled, covered = verdicts.pooled(slices, apart, items, 300)
    assert pooled < 0.9 * raw  # 14.4 to 9.3, 11.3 to 6.0, 10.4 to 8.6, 10.1 to 4.4 points
    assert covered >= 0.93  # .95 to .99
