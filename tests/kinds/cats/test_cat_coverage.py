"""Denominators: who was asked, who answered, and when there is no number."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from stereometer.core.types import Score, Settings
from stereometer.kinds.cats.metrics import summarize
from tests.builders import reference
from tests.builders.little import pick
from tests.builders.sure import sure
from tests.strategies import MODERATE, REASONS, cat_score, cat_scores


def with_answers(answered: int, asked: int) -> list[Score]:
    values = (-1.0, -2.0, -3.0)
    return [
        cat_score(
            number,
            "age",
            1,
            "intrasentence",
            values,
            None if number < answered else "token-boundary",
        )
        for number in range(asked)
    ]


@MODERATE
@given(cat_scores(reasons=REASONS))
def test_asked_answered_and_reasons_are_counted_in_every_slice(scores: list[Score]) -> None:
    for one in summarize(scores, Settings(resamples=100, ties=1.0)):
        here = reference.inside(scores, dict(one.slice))
        assert one.asked == len(here)
        assert one.n == len(reference.answered(here))
        assert one.skipped == Counter(score.skipped for score in here if score.skipped)


@MODERATE
@given(cat_scores(reasons=REASONS))
def test_below_the_floor_there_is_a_reason_instead_of_a_number(scores: list[Score]) -> None:
    for one in summarize(scores, Settings(resamples=100, coverage=0.75, ties=1.0)):
        enough = one.n > 0 and one.n >= 0.75 * one.asked
        assert (one.value is not None) == (one.low is not None) == (one.high is not None) == enough
        assert (one.why is None) == enough
        if not enough:
            assert one.p is None
            assert one.verdict is None


@pytest.mark.parametrize(("answered", "has_value"), [(9, True), (8, False), (0, False)])
def test_the_floor_is_nine_in_ten(answered: int, has_value: bool) -> None:
    one = pick(summarize(with_answers(answered, 10), Settings(resamples=100, ties=1.0)), "icat")
    assert (one.value is not None) == has_value
    assert (one.n, one.asked) == (answered, 10)


def test_the_reason_names_both_counts_and_the_floor() -> None:
    one = pick(summarize(with_answers(8, 10), Settings(resamples=100, ties=1.0)), "ss")
    assert one.why == "only 8 of 10 items were answered, below the coverage floor of 90%"


def test_exactly_the_floor_is_enough() -> None:
    assert (
        pick(
            summarize(with_answers(55, 100), Settings(resamples=100, coverage=0.55, ties=1.0)), "ss"
        ).value
        is not None
    )


def without_unrelated(score: Score) -> Score:
    return Score(
        score.item,
        score.slices,
        {name: value for name, value in score.values.items() if name != "unrelated"},
    )


def test_without_unrelated_scores_lms_is_not_defined_and_icat_is_zero_where_ss_is_extreme() -> None:
    found = summarize(
        [without_unrelated(score) for score in with_answers(6, 6)],
        Settings(resamples=100, ties=1.0),
    )
    assert pick(found, "ss").value == 100
    for name in ("icat", "icat_micro", "icat_term_mean"):
        assert pick(found, name).value == 0
    for name in ("lms", "lms_micro"):
        assert pick(found, name).value is None
        assert "unrelated" in sure(pick(found, name).why)


def test_without_unrelated_scores_icat_is_not_defined_where_ss_says_nothing() -> None:
    scores = [
        cat_score(number, "age", 1, "intrasentence", (-1.0, -2.0 * (number % 2), -3.0))
        for number in range(6)
    ]
    found = summarize(
        [without_unrelated(score) for score in scores], Settings(resamples=100, ties=1.0)
    )
    assert pick(found, "ss").value == 50
    assert pick(found, "icat").value is None


def test_one_missing_unrelated_score_is_enough_to_leave_lms_open() -> None:
    scores = with_answers(6, 6)
    found = summarize(
        [without_unrelated(scores[0]), *scores[1:]], Settings(resamples=100, ties=1.0)
    )
    assert pick(found, "lms").value is None


def test_no_items_at_all_is_said() -> None:
    one = pick(summarize([], Settings(resamples=100, ties=1.0)), "icat")
    assert (one.value, one.why, one.n, one.asked) == (None, "no items", 0, 0)
