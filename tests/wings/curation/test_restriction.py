"""Metrics on some items: the values are those of a fresh summary, and shifts are drawn for both at
once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from stereometer.core import catalog
from stereometer.core.shapes.differences import Shift
from stereometer.core.types import Score, Settings, Variant
from stereometer.kinds.cats import metrics as cat_metrics
from stereometer.kinds.pairs import metrics as pair_metrics
from stereometer.wings.curation.restriction import restricted, shifts
from tests.builders.little import pick
from tests.builders.sure import sure
from tests.strategies import FEW, MODERATE, cat_score, cat_scores, pair_score, pair_scores

QUICK = Settings(resamples=100, ties=1.0)
CAT, PAIR = catalog.shape("cat"), catalog.shape("pair")


def kept_of(scores: list[Score], marks: list[bool]) -> set[str]:
    return {
        score.item
        for score, mark in zip(scores, [*marks, *[True] * len(scores)], strict=False)
        if mark
    }


@FEW
@given(
    cat_scores(terms=3, max_size=15),
    st.lists(st.booleans(), max_size=40),
    st.sampled_from(["paper", "sound"]),
)
def test_cats_all_and_kept_are_what_a_summary_gives(
    scores: list[Score], marks: list[bool], variant: Variant
) -> None:
    settings, keep = Settings(variant, resamples=100, ties=1.0), kept_of(scores, marks)
    whole = cat_metrics.summarize(scores, settings)
    part = restricted(CAT, scores, keep, settings)
    for one in shifts(CAT, scores, keep, settings):
        assert one.value == pytest.approx(pick(whole, one.name, **one.slice).value)
        if one.kept is None:
            assert one.why == "no item is left"
        else:
            assert one.kept == pytest.approx(pick(part, one.name, **one.slice).value)
            assert (one.n, one.n_kept) == (
                pick(whole, one.name, **one.slice).n,
                pick(part, one.name, **one.slice).n,
            )


@MODERATE
@given(pair_scores(), st.lists(st.booleans(), max_size=40), st.sampled_from(["paper", "sound"]))
def test_pairs_all_and_kept_are_what_a_summary_gives(
    scores: list[Score], marks: list[bool], variant: Variant
) -> None:
    settings, keep = Settings(variant, resamples=100, ties=1.0), kept_of(scores, marks)
    whole = pair_metrics.summarize(scores, settings)
    part = restricted(PAIR, scores, keep, settings)
    for one in shifts(PAIR, scores, keep, settings):
        assert one.value == pytest.approx(pick(whole, one.name, **one.slice).value)
        if one.kept is not None:
            assert one.kept == pytest.approx(pick(part, one.name, **one.slice).value)


def test_keeping_everything_moves_nothing() -> None:
    rng = np.random.default_rng(0)
    scores = [
        cat_score(at, "trade", at % 12, "intrasentence", tuple(rng.normal(size=3)))
        for at in range(60)
    ]
    for one in shifts(CAT, scores, {score.item for score in scores}, QUICK):
        assert (one.difference, one.low, one.high, one.verdict) == (0.0, 0.0, 0.0, "within noise")


def half_kept(terms: int = 15) -> tuple[list[Score], set[str]]:
    """Ten items per term, half of them kept, at random; of the first two terms none."""
    rng = np.random.default_rng(1)
    scores = [
        cat_score(at, "trade", at % terms, "intrasentence", tuple(rng.normal([0.4, 0, -1], 1)))
        for at in range(10 * terms)
    ]
    return scores, {s.item for at, s in enumerate(scores) if at % terms > 1 and rng.random() < 0.5}


@pytest.mark.parametrize("name", ["ss", "lms"])
def test_the_interval_is_that_of_leaving_out_one_term_after_another(name: str) -> None:
    """The jackknife is another way to the same spread of a difference of two means over terms."""
    scores, keep = half_kept()

    def shift(left_out: int) -> float:
        here = [score for at, score in enumerate(scores) if at % 15 != left_out]
        return sure(pick(shifts(CAT, here, keep, QUICK), name).difference)

    without = np.array([shift(term) for term in range(15)])
    error = np.sqrt(14 / 15 * ((without - without.mean()) ** 2).sum())
    one = pick(shifts(CAT, scores, keep, QUICK), name)
    half = t.ppf(0.975, 14) * error
    middle = sure(one.difference)
    assert (one.low, one.high) == pytest.approx((middle - half, middle + half), rel=0.05)
    assert (one.interval, one.scope) == ("t over target terms", "terms like these")


def test_a_shift_of_few_kept_terms_speaks_of_these() -> None:
    scores, keep = half_kept(10)
    one = pick(shifts(CAT, scores, keep, QUICK), "ss")
    assert one.scope == "these terms"
    assert sure(one.low) < sure(one.difference) < sure(one.high)


def test_icat_moves_by_both_of_its_sides() -> None:
    """Where ss stays at 50 on both sides its interval is that of the sides, not of their bend."""
    scores, keep = half_kept(40)
    one = pick(shifts(CAT, scores, keep, QUICK), "icat")
    assert sure(one.low) < sure(one.difference) < sure(one.high)
    assert one.interval == "t over target terms"


def test_few_kept_pairs_that_agree_are_not_certain() -> None:
    """Three of 100 kept, all won: Wilson's interval of three is wide."""
    scores = [pair_score(at, "age", None, -1.0 - at % 2, -1.5) for at in range(100)]
    keep = {scores[at].item for at in (0, 2, 4)}
    one = pick(shifts(PAIR, scores, keep, QUICK), "pair_preference")
    assert (one.kept, one.verdict) == (100.0, "within noise")
    assert (one.interval, one.scope) == ("Newcombe over pairs", "pairs like these")


def test_a_flag_that_hides_a_preference_shows_as_a_shift() -> None:
    won = [pair_score(at, "age", None, -1.0, -2.0) for at in range(60)]
    lost = [pair_score(60 + at, "age", None, -2.0, -1.0) for at in range(60)]
    one = pick(shifts(PAIR, won + lost, {score.item for score in won}, QUICK), "pair_preference")
    assert (one.value, one.kept, one.verdict) == (50.0, 100.0, "up")
    assert 40 < sure(one.low) < 50 <= sure(one.high)


def test_skipped_items_are_not_counted_and_nothing_gives_nothing() -> None:
    assert shifts(PAIR, [pair_score(1, "age", None, -1, -2, "a reason")], {"pair-1"}, QUICK) == []
    assert restricted(PAIR, [], set(), QUICK) == []


def test_a_slice_below_the_coverage_floor_has_no_shift() -> None:
    age = [pair_score(at, "age", None, -1.0, -2.0) for at in range(20)]
    race = [
        pair_score(20 + at, "race", None, -1.0, -2.0, "too long" if at % 4 == 0 else None)
        for at in range(20)
    ]
    found = {
        one.slice.get("bias_type", ""): one
        for one in shifts(PAIR, age + race, {score.item for score in age + race[:8]}, QUICK)
    }
    assert (found["age"].value, found["age"].difference) == (100.0, 0.0)
    for name, why in ("", "only 35 of 40"), ("race", "only 15 of 20"):
        one = found[name]
        assert (one.value, one.kept, one.difference) == (None, None, None)
        assert (one.why or "").startswith(why)


def test_items_kept_below_the_coverage_floor_have_no_shift() -> None:
    scores = [
        pair_score(at, "age", None, -1.0, -2.0, "too long" if at < 2 else None) for at in range(40)
    ]
    one = pick(shifts(PAIR, scores, {score.item for score in scores[:8]}, QUICK), "pair_preference")
    assert (one.value, one.kept, one.n_kept) == (100.0, None, 6)
    assert (one.why or "").startswith("only 6 of 8")


def test_a_shift_survives_json() -> None:
    one = Shift(
        "ss", {"task": "intrasentence"}, 50.0, 60.0, 10, 55.0, 5, -9.0, 1.0, "how", "within noise"
    )
    assert one.as_json()["difference"] == -5.0
    assert Shift.from_json(one.as_json()) == one
