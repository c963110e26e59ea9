"""Intervals, equivalence, closeness and differences of CATs are right as often as they say.

A share of so many sets is held to its bar within four standard errors in the short tests, within
three in the long ones.
"""

from __future__ import annotations

from math import sqrt

import pytest

from tests.simulations import cats
from tests.simulations.cats import Truth, same_icat

SHORT, LONG = 300, 4000
SETS = [SHORT, pytest.param(LONG, marks=pytest.mark.long)]
LIKE = Truth(lms=80.0)


def slack(share: float, sets: int) -> float:
    return (4 if sets == SHORT else 3) * sqrt(share * (1 - share) / sets)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize(("terms", "items"), [(79, 53), (30, 53), (24, 6), (10, 53)])
def test_icat_of_a_model_without_a_preference_is_covered(terms: int, items: int, sets: int) -> None:
    assert abs(cats.icat_coverage(terms, items, sets) - 0.95) <= slack(0.95, sets)


@pytest.mark.parametrize("sets", [150, pytest.param(1500, marks=pytest.mark.long)])
@pytest.mark.parametrize(("terms", "items"), [(1, 53), (3, 26), (8, 12)])
def test_icat_of_fixed_terms_is_covered(terms: int, items: int, sets: int) -> None:
    assert cats.fixed_icat_coverage(terms, items, sets) >= 0.93 - slack(0.93, sets)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("terms", [79, 30, 10])
def test_a_preference_of_five_points_is_seldom_called_near_50(terms: int, sets: int) -> None:
    assert cats.shown_equivalent(55, terms, sets) <= 0.055 + slack(0.05, sets)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize(("terms", "shown"), [(79, 1.0), (36, 0.94), (30, 0.89), (10, 0.17)])
def test_no_preference_is_shown_where_terms_are_enough(terms: int, shown: float, sets: int) -> None:
    share = cats.shown_equivalent(50, terms, sets)
    assert share == pytest.approx(shown, abs=0.02 + slack(min(shown, 0.99), sets))


@pytest.mark.parametrize("sets", [100, pytest.param(1500, marks=pytest.mark.long)])
def test_closer_is_claimed_as_often_as_it_should_be(sets: int) -> None:
    """48 and 52 are equally far from 50, 50 and 53 are not."""
    assert cats.claimed_closer(48, 52, sets) <= 0.06 + slack(0.05, sets)
    assert cats.claimed_closer(50, 53, sets) == pytest.approx(0.38, abs=0.02 + slack(0.38, sets))


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("terms", [10, 30, 79])
def test_the_detectable_difference_is_found_in_four_of_five_sets(terms: int, sets: int) -> None:
    share = cats.power_at_detectable(terms, sets)
    assert 0.78 - slack(0.8, sets) <= share <= 0.82 + slack(0.8, sets)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("name", ["ss", "lms"])
def test_ten_terms_are_covered(name: str, sets: int) -> None:
    assert 0.94 - slack(0.95, sets) <= cats.t_coverage(name, 10, sets) <= 0.96 + slack(0.95, sets)
    shift = cats.shift_coverage(name, 10, sets)
    assert 0.94 - slack(0.95, sets) <= shift <= 0.96 + slack(0.95, sets)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("name", ["ss", "lms", "icat"])
def test_differences_of_ten_terms_are_covered(name: str, sets: int) -> None:
    share = cats.difference_coverage(name, Truth(), Truth(ss=58.0, lms=80.0), 10, sets)
    most = 1.0 if name == "icat" else 0.96 + slack(0.95, sets)
    assert 0.94 - slack(0.95, sets) <= share <= most


@pytest.mark.parametrize("sets", [SHORT, pytest.param(1500, marks=pytest.mark.long)])
@pytest.mark.parametrize("shared", [0.0, 0.9])
@pytest.mark.parametrize("terms", [10, 30])
@pytest.mark.parametrize(
    ("first", "second"), [(LIKE, same_icat(53, LIKE)), (Truth(ss=48.0), Truth(ss=52.0))]
)
def test_systems_of_the_same_icat_seldom_differ(
    first: Truth, second: Truth, terms: int, shared: float, sets: int
) -> None:
    """Where both are near 50 the test is careful; a bootstrap of terms rejected .08 to .19."""
    assert cats.icat_size(first, second, terms, sets, shared) <= 0.05 + slack(0.05, sets)
