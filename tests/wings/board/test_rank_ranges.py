"""Rank ranges: what paired tests leave possible, and how often the true ranks are in them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from stereometer.core.compare import Compared, compared
from stereometer.core.shapes.differences import Difference
from stereometer.core.types import Score, Settings
from stereometer.kinds.pairs.shape import SHAPE
from stereometer.wings.board.tables import RankRange, rank_ranges


def pair(first: str, second: str, closer: str, name: str = "lms") -> Compared:
    row = Difference(name, {}, 50.0, 60.0, 9, 9, 3, 100.0, closer=closer)
    return Compared(first, second, 9, 9, (row,), (), (), 0, 0)


def test_a_rank_is_a_range_from_what_was_shown() -> None:
    pairs = [pair("a", "b", "first"), pair("a", "c", "first"), pair("b", "c", "neither")]
    assert rank_ranges(pairs, "lms") == {
        "a": RankRange(1, 1),
        "b": RankRange(2, 3),
        "c": RankRange(2, 3),
    }


def test_without_a_difference_every_rank_is_possible() -> None:
    names = "abcd"
    pairs = [pair(*both, "neither") for both in combinations(names, 2)]
    assert rank_ranges(pairs, "lms") == {name: RankRange(1, 4) for name in names}


def test_a_metric_that_was_not_compared_has_no_range() -> None:
    assert rank_ranges([pair("a", "b", "second")], "icat") == {}
    assert rank_ranges([], "lms") == {}


def scores_of(wins: NDArray[np.bool_]) -> list[Score]:
    return [
        Score(
            str(at), {"bias_type": "age"}, {"sent_more": float(won), "sent_less": 1.0 - float(won)}
        )
        for at, won in enumerate(wins)
    ]


@pytest.mark.long
def test_true_ranks_are_in_their_ranges() -> None:
    """Distances from 50 of 0, 8, 20 and 20 points, 300 pairs: all four ranges at once hold the
    true ranks in at least 95 of 100 sets; equal systems may take either of their ranks."""
    rng, sets, held = np.random.default_rng(5), 60, 0
    truth, ranks = (50.0, 58.0, 70.0, 30.0), ((1, 1), (2, 2), (3, 4), (3, 4))
    for _ in range(sets):
        systems = [scores_of(rng.random(300) < share / 100) for share in truth]
        pairs = compared("abcd", systems, SHAPE, Settings(), True, overall=True)
        ranges = rank_ranges(pairs, "pair_preference")
        held += all(
            ranges[label].best <= worst and ranges[label].worst >= best
            for label, (best, worst) in zip("abcd", ranks, strict=True)
        )
    assert held >= 0.95 * sets


def test_only_overall_rows_are_computed_where_no_more_is_asked() -> None:
    systems = [scores_of(np.arange(40) % 3 == at) for at in (0, 1)]
    both = [
        compared("ab", systems, SHAPE, Settings(), True, overall=overall)[0]
        for overall in (False, True)
    ]
    whole = next(row for row in both[0].differences if not row.slice)
    assert whole.p == both[1].differences[0].p
    assert {tuple(row.slice) for row in both[1].differences} == {()}
    assert {tuple(row.slice) for row in both[0].differences} == {(), ("bias_type",)}
