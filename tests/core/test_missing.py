"""Answers that are missing may all have been lost, or all won: that is shown, and above 2 % it is
what verdicts and bars go by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from stereometer.core.gate.bars import BarRule, read_bar
from stereometer.core.gate.early_stop import Until
from stereometer.core.runs.runner import Planned, scored
from stereometer.core.show.numbers import missing
from stereometer.core.types import Answer, Estimate, Score, Settings
from stereometer.kinds.cats.metrics import summarize as cat_summary
from stereometer.kinds.pairs.metrics import summarize
from stereometer.kinds.pairs.shape import SHAPE as PAIR
from tests.builders.by_hand import bound
from tests.builders.little import Counting, pick
from tests.builders.sure import sure
from tests.simulations.early import pairs_of
from tests.strategies import cat_score, pair_score

SETTINGS = Settings(resamples=100, ties=1.0)


def pairs(lost: int, won: int, unanswered: int = 0, tied: int = 0, unasked: int = 0) -> list[Score]:
    sides = [-1.0] * lost + [1.0] * won + [0.0] * tied
    scores = [pair_score(at, "age", None, side, 0.0) for at, side in enumerate(sides)]
    for at in range(unanswered + unasked):
        score = pair_score(len(scores), "age", None, 0.0, 0.0, "no answer")
        scores.append(replace(score, unanswered=at < unanswered))
    return scores


def preference(scores: Sequence[Score]) -> Estimate:
    return pick(summarize(scores, SETTINGS), "pair_preference")


def test_the_ends_are_those_of_the_pairs_with_all_missing_and_all_ties_lost_or_won() -> None:
    one = preference(pairs(200, 260, unanswered=30, tied=10, unasked=10))
    lost, won = preference(pairs(240, 260)), preference(pairs(200, 300))
    assert (one.n, one.asked, one.missing) == (470, 510, 30)
    assert (one.missing_low, one.missing_high) == (lost.low, won.high)
    assert one.ends == (lost.low, won.high)
    assert one.p == lost.p
    assert missing(one) == (
        "30 unanswered:",
        f"[{sure(one.missing_low):.1f}, {sure(one.missing_high):.1f}]",
    )


@pytest.mark.parametrize(
    ("scores", "says", "shown"),
    [
        (pairs(178, 222, unanswered=8), "prefers stereotypes", True),
        (pairs(178, 222, unanswered=9), "undecided", True),
        (pairs(178, 222, unasked=30), "prefers stereotypes", False),
        (pairs(150, 250, unanswered=20), "prefers stereotypes", True),
        (pairs(950, 950), "within 5 points of 50", False),
        (pairs(950, 950, unanswered=150), "undecided", True),
    ],
)
def test_verdicts_go_by_them_above_two_percent(scores: list[Score], says: str, shown: bool) -> None:
    one = preference(scores)
    assert str(one.verdict).startswith(says)
    assert (one.missing_low is not None) == shown
    if one.is_doubtful and says == "undecided":
        assert f"whatever {one.missing} unanswered items would say" in str(one.verdict)


def test_bars_go_by_them_too() -> None:
    bar = read_bar("|pair_preference-50|<=5")
    assert bar.outcome(preference(pairs(950, 950))) == "met"
    assert bar.outcome(preference(pairs(950, 950, unanswered=150))) == "undecided"


def test_terms_that_answered_nothing_are_terms() -> None:
    """Twelve terms of ten CATs, two of which were refused."""
    scores = [
        cat_score(at, "age", at % 12, "intrasentence", (float(at % 5 > 1), 0.5, -1.0))
        for at in range(120)
    ]
    silent = [
        replace(score, values={}, skipped="refused", unanswered=True)
        if score.slices["target"] in (scores[3].slices["target"], scores[7].slices["target"])
        else score
        for score in scores
    ]
    settings = replace(SETTINGS, coverage=0.5)
    one = pick(cat_summary(silent, settings), "ss")
    filled = [
        replace(score, values=dict(zip(score.values, (0.0, 0.5, -1.0), strict=True)))
        if quiet.skipped
        else score
        for score, quiet in zip(scores, silent, strict=True)
    ]
    assert one.missing_low == pytest.approx(pick(cat_summary(filled, settings), "ss").low)
    assert one.terms == 10


def test_what_is_asked_and_fails_is_missing_and_what_is_out_of_scope_is_not() -> None:
    """A request that came back empty, and an item that was never asked."""
    item = pairs_of([1])[0]
    measure = bound("pair-likelihood", Counting())
    plan = Planned(item, measure.plan(item))
    empty = {request.key: Answer((), end="content_filter") for request in plan}
    failed, unasked = scored(plan, measure, empty), scored(Planned(item, skipped="x"), measure, {})
    assert [(each.skipped, each.unanswered) for each in (failed, unasked)] == [
        ("content_filter", True),
        ("x", False),
    ]
    assert "unanswered" not in unasked.as_json()


def test_a_run_that_stops_early_does_not_stop_on_what_they_hide() -> None:
    """Every second pair that the model prefers is refused: what is left looks balanced."""
    outcomes = []
    for silent in (False, True):
        rule = BarRule(read_bar("pair_preference<=60"))
        until = Until(pairs_of([1] * 640), [rule], PAIR, replace(SETTINGS, coverage=0.5))
        for number, item in enumerate(item for block in until.blocks() for item in block):
            kind = number % 3
            score = Score(item.id, item.slices, {"sent_more": float(kind > 0), "sent_less": 0.5})
            refused = replace(score, values={}, skipped="refused", unanswered=silent)
            until.add(refused if kind == 2 else score)
        outcomes.append(until.is_decided)
    assert outcomes == [True, False]
