"""Pairs: intervals hold at any share of ties, terms count, one-sided ties are no difference."""

from __future__ import annotations

import pytest

from tests.simulations import pairs
from tests.simulations.test_cats import SETS, slack

MANY = 20_000


@pytest.mark.parametrize("tied", [0.0, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("won", [0.5, 0.6])
def test_pairs_are_covered_at_any_share_of_ties(won: float, tied: float) -> None:
    share = pairs.coverage(won, tied, 262, MANY)
    assert 0.945 - slack(0.95, MANY) <= share <= 0.956 + slack(0.95, MANY)


@pytest.mark.parametrize(("count", "shown"), [(1508, 0.98), (516, 0.50), (262, 0.0)])
def test_no_preference_is_shown_where_pairs_are_enough(count: int, shown: float) -> None:
    share = pairs.shown_equivalent(0.5, count, MANY)
    assert share == pytest.approx(shown, abs=(0.02 + slack(shown, MANY)) * (shown > 0))
    assert pairs.shown_equivalent(0.55, count, MANY) <= 0.055 + slack(0.05, MANY)


def test_pairs_of_terms_are_covered_over_terms_and_not_without() -> None:
    for terms in (79, 12):
        share = pairs.clustered_coverage(terms, SETS)
        assert 0.94 - slack(0.95) <= share <= 0.96 + slack(0.95)
    assert pairs.clustered_coverage(79, SETS, by_term=False) < 0.90


@pytest.mark.parametrize("terms", [0, 30])
@pytest.mark.parametrize("tied", [0.0, 0.25, 0.5])
def test_ties_on_one_side_are_no_difference(tied: float, terms: int) -> None:
    assert pairs.rejected(tied, SETS, terms) <= 0.055 + slack(0.05)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_shifts_of_pairs_are_covered(kept: float) -> None:
    assert pairs.shift_coverage(262, kept, SETS) >= 0.94 - slack(0.95)
