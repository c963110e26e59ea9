"""Metrics on some items: the values are those of a fresh summary, and shifts are drawn for both at
once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer import catalog
from stereometer.findings.shift import restricted, shifts
from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.shapes.shift import Shift
from stereometer.types import Score, Settings, Variant
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


def test_the_interval_is_that_of_a_slow_bootstrap_over_terms() -> None:
    """Terms drawn one resample at a time, both means taken from the same draw."""
    rng = np.random.default_rng(1)
    scores = [
        cat_score(at, "trade", at % 15, "intrasentence", tuple(rng.normal([0.4, 0, -1], 1)))
        for at in range(150)
    ]
    keep = {score.item for score in scores if rng.random() < 0.5}
    one = pick(shifts(CAT, scores, keep, Settings(resamples=4000, ties=1.0)), "ss")

    def ss(term: int, only: bool) -> float | None:
        mine = [
            s for at, s in enumerate(scores) if at % 15 == term and (not only or s.item in keep)
        ]
        return (
            float(
                np.mean(
                    [100 * (s.values["stereotype"] > s.values["anti-stereotype"]) for s in mine]
                )
            )
            if mine
            else None
        )

    table = [(ss(term, False), ss(term, True)) for term in range(15)]
    draws = []
    for _ in range(4000):
        drawn = [table[at] for at in rng.integers(0, 15, 15)]
        draws.append(
            np.mean([b for _, b in drawn if b is not None]) - np.mean([a for a, _ in drawn])
        )
    assert (one.low, one.high) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.6)


def test_a_flag_that_hides_a_preference_shows_as_a_shift() -> None:
    won = [pair_score(at, "age", None, -1.0, -2.0) for at in range(60)]
    lost = [pair_score(60 + at, "age", None, -2.0, -1.0) for at in range(60)]
    one = pick(shifts(PAIR, won + lost, {score.item for score in won}, QUICK), "pair_preference")
    assert (one.value, one.kept, one.verdict) == (50.0, 100.0, "up")
    assert 0 < sure(one.low) < 50 < sure(one.high)


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
