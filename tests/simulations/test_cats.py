"""Intervals, equivalence, closeness and differences of CATs are right as often as they say.

A share of so many sets is held to its bar within three standard errors.
"""

from __future__ import annotations

from math import sqrt

import pytest

from tests.simulations import cats
from tests.simulations.cats import Truth, same_icat

SETS, FEWER = 2000, 1000
LIKE = Truth(lms=80.0)


def slack(share: float, sets: int = SETS) -> float:
    return 3 * sqrt(share * (1 - share) / sets)


@pytest.mark.parametrize(("terms", "items"), [(79, 53), (30, 53), (24, 6), (10, 53)])
def test_icat_of_a_model_without_a_preference_is_covered(terms: int, items: int) -> None:
    assert abs(cats.icat_coverage(terms, items, SETS) - 0.95) <= slack(0.95)


@pytest.mark.parametrize(("terms", "items"), [(1, 53), (3, 26), (8, 12)])
def test_icat_of_fixed_terms_is_covered(terms: int, items: int) -> None:
    assert cats.fixed_icat_coverage(terms, items, FEWER) >= 0.93 - slack(0.93, FEWER)


@pytest.mark.parametrize("terms", [79, 30, 10])
def test_a_preference_of_five_points_is_seldom_called_near_50(terms: int) -> None:
    assert cats.shown_equivalent(55, terms, SETS) <= 0.055 + slack(0.05)


@pytest.mark.parametrize(("terms", "shown"), [(79, 1.0), (36, 0.94), (30, 0.89), (10, 0.17)])
def test_no_preference_is_shown_where_terms_are_enough(terms: int, shown: float) -> None:
    share = cats.shown_equivalent(50, terms, SETS)
    assert share == pytest.approx(shown, abs=0.02 + slack(min(shown, 0.99)))


def test_closer_is_claimed_as_often_as_it_should_be() -> None:
    """48 and 52 are equally far from 50, 50 and 53 are not."""
    assert cats.claimed_closer(48, 52, FEWER) <= 0.06 + slack(0.05, FEWER)
    assert cats.claimed_closer(50, 53, FEWER) == pytest.approx(0.38, abs=0.02 + slack(0.38, FEWER))


@pytest.mark.parametrize("terms", [10, 30, 79])
def test_the_detectable_difference_is_found_in_four_of_five_sets(terms: int) -> None:
    share = cats.power_at_detectable(terms, SETS)
    assert 0.78 - slack(0.8) <= share <= 0.82 + slack(0.8)


@pytest.mark.parametrize("name", ["ss", "lms"])
def test_ten_terms_are_covered(name: str) -> None:
    most = 0.985 if name == "lms" else 0.96  # Wilson's, with t, is careful
    assert 0.94 - slack(0.95) <= cats.t_coverage(name, 10, SETS) <= most + slack(0.95)
    shift = cats.shift_coverage(name, 10, SETS)
    assert 0.94 - slack(0.95) <= shift <= 0.96 + slack(0.95)


@pytest.mark.parametrize("name", ["ss", "lms", "icat"])
def test_differences_of_ten_terms_are_covered(name: str) -> None:
    share = cats.difference_coverage(name, Truth(), Truth(ss=58.0, lms=80.0), 10, SETS)
    most = 1.0 if name == "icat" else 0.96 + slack(0.95)
    assert 0.94 - slack(0.95) <= share <= most


@pytest.mark.parametrize("shared", [0.0, 0.9])
@pytest.mark.parametrize("terms", [10, 30])
@pytest.mark.parametrize(
    ("first", "second"), [(LIKE, same_icat(53, LIKE)), (Truth(ss=48.0), Truth(ss=52.0))]
)
def test_systems_of_the_same_icat_seldom_differ(
    first: Truth, second: Truth, terms: int, shared: float
) -> None:
    """Where both are near 50 the test is careful; a bootstrap of terms rejected .08 to .19."""
    assert cats.icat_size(first, second, terms, FEWER, shared) <= 0.05 + slack(0.05, FEWER)
