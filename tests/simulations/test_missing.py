"""What is printed holds, whatever the answers that are missing would have been."""

from __future__ import annotations

import pytest

from tests.simulations import missing
from tests.simulations.test_cats import slack

SETS = 200


@pytest.mark.parametrize(
    ("won", "count", "refused", "tied"),
    [(0.55, 1000, 0.12, 0.0), (0.5, 300, 0.15, 0.0), (0.6, 300, 0.15, 0.03)],
)
def test_pairs(won: float, count: int, refused: float, tied: float) -> None:
    _held(missing.pairs(won, count, refused, SETS, tied), won)


@pytest.mark.parametrize(("ss", "terms", "items"), [(0.55, 79, 27), (0.5, 24, 12), (0.55, 6, 60)])
def test_cats(ss: float, terms: int, items: int) -> None:
    _held(missing.cats(ss, terms, items, 0.12, SETS), ss)


def _held(said: missing.Said, true: float) -> None:
    """The interval of the answered items alone does not hold where a twelfth of all is missing."""
    assert said.covered >= 0.95 - slack(0.95, SETS)
    assert said.answered < said.covered
    if true == 0.5:
        assert said.prefers <= 0.05 + slack(0.05, SETS)
    if true == 0.55:
        assert said.within <= 0.05 + slack(0.05, SETS)
