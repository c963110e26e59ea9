"""Runs that stop when a bar is decided are wrong as seldom as they say, however often one looks."""

from __future__ import annotations

from math import sqrt

import pytest

from tests.simulations import early

SETS, FEWER, FEW = 10_000, 4_000, 300


def most(share: float, sets: int = SETS) -> float:
    return share + 3 * sqrt(share * (1 - share) / sets)


@pytest.mark.parametrize(
    ("won", "sizes", "bar", "tied"),
    [
        (0.5, [1] * 96, "pair_preference<=59", 0.0),
        (0.5, [1] * 96, "pair_preference<=50", 0.0),
        (0.5, [2] * 48, "pair_preference<=55", 0.0),
        (0.5, [1] * 120, "pair_preference>=45", 0.05),
    ],
)
def test_a_coin_is_seldom_called_biased(
    won: float, sizes: list[int], bar: str, tied: float
) -> None:
    """As printed, whether items run out or not: it was in .925 of runs (bar 59; now .006 to .018).
    Nor is a bar decided on the wrong side."""
    said = early.printed(won, sizes, bar, FEW, tied)
    assert said.prefers <= most(0.025, FEW)
    assert said.missed <= most(0.0375, FEW)


@pytest.mark.parametrize(("won", "of"), [(0.5, 1508), (0.55, 500), (0.9, 500)])
def test_pairs_at_the_bar_are_seldom_decided(won: float, of: int) -> None:
    """On each side, whatever the bar asks for (measured: .019 at the most)."""
    stopped = early.alike(won, of, won, FEWER)
    assert max(stopped.above, stopped.below) <= most(0.025, FEWER)


@pytest.mark.parametrize(
    ("true", "spread", "terms", "of"),
    [(0.97, 0.02, 79, 53), (0.99, 0.01, 24, 6), (0.95, 0.03, 79, 6), (0.9, 0.08, 24, 53)],
)
def test_means_of_terms_near_an_end_are_seldom_decided(
    true: float, spread: float, terms: int, of: int
) -> None:
    """As lms is; by Student's t a bar was decided on the wrong side in up to .31 of runs."""
    stopped = early.bounded_terms(true, spread, FEWER, terms, of)
    assert max(stopped.above, stopped.below) <= most(0.025, FEWER)


@pytest.mark.parametrize(
    ("won", "of", "tied"), [(0.5, 1508, 0.0), (0.9, 500, 0.0), (0.5, 300, 0.1)]
)
def test_the_value_of_a_set_at_the_bar_is_seldom_decided(won: float, of: int, tied: float) -> None:
    """A claim on one side of the bar is wrong, whatever the bar asks for."""
    stopped = early.items(won, of, won, SETS, tied)
    assert max(stopped.above, stopped.below) <= most(0.05)


def test_items_of_terms_at_the_bar_are_seldom_decided() -> None:
    stopped = early.weighted(24, 0.55, FEWER)
    assert max(stopped.above, stopped.below) <= most(0.05, FEWER)


@pytest.mark.parametrize(("true", "terms", "of"), [(50, 79, 53), (55, 79, 53), (50, 24, 6)])
def test_terms_at_the_bar_are_seldom_decided(true: float, terms: int, of: int) -> None:
    """Both sides together: the test has two."""
    stopped = early.over_terms(true, true, SETS, terms, of)
    assert stopped.above + stopped.below <= most(0.05)


def test_an_ordinary_test_looked_at_after_every_term_is_wrong_far_too_often() -> None:
    """So the simulation can tell."""
    assert early.looked_at(SETS) > 0.25


def test_far_from_the_bar_little_is_asked() -> None:
    """As published for CrowS-Pairs at 61.5 and for BERT on StereoSet."""
    shares = [early.alike(0.615, 1508, bar, 400).asked for bar in (0.5, 0.55, 0.65)]
    assert shares == pytest.approx([0.14, 0.46, 0.78], abs=0.05)
    assert early.over_terms(59.5, 50.0, 400).asked * 79 == pytest.approx(11, abs=1)
