"""Runs that stop when a bar is decided are wrong as seldom as they say, however often one looks."""

from __future__ import annotations

from math import sqrt

import pytest

from tests.simulations import early

SHORT, LONG = 400, 10_000
SETS = [SHORT, pytest.param(LONG, marks=pytest.mark.long)]


def most(share: float, sets: int) -> float:
    return share + (4 if sets == SHORT else 3) * sqrt(share * (1 - share) / sets)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize(
    ("won", "of", "tied"), [(0.5, 1508, 0.0), (0.9, 500, 0.0), (0.5, 300, 0.1)]
)
def test_pairs_at_the_bar_are_seldom_decided(won: float, of: int, tied: float, sets: int) -> None:
    """A claim on one side of the bar is wrong, whatever the bar asks for."""
    stopped = early.items(won, of, won, sets, tied)
    assert max(stopped.above, stopped.below) <= most(0.05, sets)


@pytest.mark.parametrize("sets", [SHORT, pytest.param(4_000, marks=pytest.mark.long)])
def test_items_of_terms_at_the_bar_are_seldom_decided(sets: int) -> None:
    stopped = early.weighted(24, 0.55, sets)
    assert max(stopped.above, stopped.below) <= most(0.05, sets)


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize(("true", "terms", "of"), [(50, 79, 53), (55, 79, 53), (50, 24, 6)])
def test_terms_at_the_bar_are_seldom_decided(true: float, terms: int, of: int, sets: int) -> None:
    """Both sides together: the test has two."""
    stopped = early.over_terms(true, true, sets, terms, of)
    assert stopped.above + stopped.below <= most(0.05, sets)


@pytest.mark.parametrize("sets", SETS)
def test_an_ordinary_test_looked_at_after_every_term_is_wrong_far_too_often(sets: int) -> None:
    """So the simulation can tell."""
    assert early.looked_at(sets) > 0.25


def test_far_from_the_bar_little_is_asked() -> None:
    """As published for CrowS-Pairs at 61.5 and for BERT on StereoSet."""
    shares = [early.items(0.615, 1508, bar, 100).asked for bar in (0.5, 0.55, 0.65)]
    assert shares == pytest.approx([0.10, 0.25, 0.46], abs=0.05)
    assert early.over_terms(59.5, 50.0, 400).asked * 79 == pytest.approx(11, abs=1)
