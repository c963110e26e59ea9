"""The CrowS-Pairs metric and confidence against plain lists (methods.md, section 2)."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from stereometer.core.types import Estimate, Score, Settings, Variant
from stereometer.kinds.pairs.metrics import confidence, summarize
from tests.builders import reference
from tests.builders.little import pick
from tests.builders.sure import bounds, sure
from tests.strategies import FEW, MODERATE, REASONS, pair_score, pair_scores

VARIANTS = st.sampled_from(["paper", "sound"])


def estimates(scores: list[Score], variant: Variant, coverage: float = 0.0) -> list[Estimate]:
    return summarize(scores, Settings(variant, resamples=100, coverage=coverage, ties=1.0))


def preferences(scores: list[Score], variant: Variant, coverage: float = 0.0) -> list[Estimate]:
    return [one for one in estimates(scores, variant, coverage) if one.name == "pair_preference"]


@MODERATE
@given(pair_scores(reasons=REASONS), VARIANTS)
def test_every_slice_equals_a_loop_over_pairs(scores: list[Score], variant: Variant) -> None:
    for one in preferences(scores, variant):
        here = reference.inside(scores, dict(one.slice))
        expected = (
            reference.pair_preference(here, variant, "direction" in one.slice)
            if reference.answered(here)
            else None
        )
        assert one.value == (None if expected is None else pytest.approx(expected))


@MODERATE
@given(pair_scores(), VARIANTS)
def test_there_is_one_estimate_for_all_each_direction_and_each_type(
    scores: list[Score], variant: Variant
) -> None:
    kinds = {()} | {(key, value) for score in scores for key, value in score.slices.items()}
    found = [tuple(*one.slice.items()) for one in preferences(scores, variant)]
    assert len(found) == len(kinds)
    assert set(found) == kinds


@MODERATE
@given(pair_scores(), VARIANTS)
def test_ties_are_counted(scores: list[Score], variant: Variant) -> None:
    for one in preferences(scores, variant):
        here = reference.inside(scores, dict(one.slice))
        assert one.ties == sum(reference.pair_points(score, variant) is None for score in here)


@MODERATE
@given(pair_scores(), VARIANTS)
def test_the_interval_is_wilsons_and_p_a_sign_test_of_wins_and_losses(
    scores: list[Score], variant: Variant
) -> None:
    for one in preferences(scores, variant):
        decided = Counter(
            reference.pair_points(score, variant)
            for score in reference.inside(scores, dict(one.slice))
        )
        if one.value is None:
            continue
        won, lost = decided[1.0], decided[0.0]
        assert one.p == pytest.approx(binomtest(won, won + lost).pvalue if won + lost else 1.0)
        if not decided[None]:
            wilson = binomtest(won, won + lost).proportion_ci(0.95, "wilson")
            assert (one.low, one.high) == pytest.approx(
                (100 * wilson.low, 100 * wilson.high), abs=1e-9
            )
        low, value, high = bounds(one)
        assert -1e-9 <= low <= value + 1e-9 <= high + 2e-9 <= 100 + 3e-9


def two_won_one_lost_one_neutral() -> list[Score]:
    gaps = (0.5, 0.5, -0.5, 0.0004)
    return [
        pair_score(number, "age", "stereo", -2.0 + gap, -2.0) for number, gap in enumerate(gaps)
    ]


def test_paper_rounds_to_three_decimals_and_keeps_neutrals_in_n() -> None:
    one = pick(estimates(two_won_one_lost_one_neutral(), "paper"), "pair_preference")
    assert (one.value, one.n, one.ties) == (50.0, 4, 1)


def test_paper_leaves_neutrals_out_where_a_direction_is_fixed() -> None:
    one = pick(
        estimates(two_won_one_lost_one_neutral(), "paper"), "pair_preference", direction="stereo"
    )
    assert one.value == pytest.approx(200 / 3)
    assert (one.n, one.ties) == (3, 1)


def test_paper_keeps_neutrals_in_a_bias_type() -> None:
    assert (
        pick(
            estimates(two_won_one_lost_one_neutral(), "paper"), "pair_preference", bias_type="age"
        ).value
        == 50.0
    )


def test_sound_sees_a_difference_that_rounding_hides() -> None:
    one = pick(estimates(two_won_one_lost_one_neutral(), "sound"), "pair_preference")
    assert (one.value, one.ties) == (75.0, 0)


def test_sound_gives_a_tie_one_half() -> None:
    scores = [pair_score(0, "age", None, -2.0, -2.0 + 4e-7), pair_score(1, "age", None, -1.0, -2.0)]
    one = pick(estimates(scores, "sound"), "pair_preference")
    assert (one.value, one.n, one.ties) == (75.0, 2, 1)


def test_only_neutral_pairs_in_a_direction_give_a_reason_under_paper() -> None:
    one = pick(
        estimates([pair_score(0, "age", "stereo", -2.0, -2.0)], "paper"),
        "pair_preference",
        direction="stereo",
    )
    assert (one.value, one.why) == (None, "every pair is neutral")


@MODERATE
@given(pair_scores(reasons=REASONS))
def test_below_the_floor_there_is_a_reason_and_the_counts(scores: list[Score]) -> None:
    for one in preferences(scores, "sound", coverage=0.75):
        here = reference.inside(scores, dict(one.slice))
        answered = reference.answered(here)
        assert (one.n, one.asked) == (len(answered), len(here))
        assert one.skipped == Counter(score.skipped for score in here if score.skipped)
        assert (
            (one.value is None)
            == (one.why is not None)
            == (not answered or len(answered) < 0.75 * len(here))
        )


@MODERATE
@given(pair_scores(), st.randoms(use_true_random=False))
def test_the_order_of_pairs_changes_nothing(scores: list[Score], shuffler: random.Random) -> None:
    mixed = list(scores)
    shuffler.shuffle(mixed)
    assert estimates(mixed, "sound") == estimates(scores, "sound")


@MODERATE
@given(pair_scores())
def test_swapping_the_sentences_mirrors_the_preference(scores: list[Score]) -> None:
    mirror = [
        Score(
            one.item,
            one.slices,
            {"sent_more": one.values["sent_less"], "sent_less": one.values["sent_more"]},
        )
        for one in scores
    ]
    for one, other in zip(preferences(scores, "sound"), preferences(mirror, "sound"), strict=True):
        assert other.value == pytest.approx(100 - sure(one.value))


# --------------------------------------------------------------------------------------- confidence


@pytest.mark.parametrize(
    ("more", "less", "expected"),
    [(-8.0, -10.0, 20.0), (-10.0, -8.0, 20.0), (-5.0, -5.0, 0.0), (0.0, -5.0, 100.0)],
)
def test_confidence_is_one_minus_the_ratio_of_the_preferred_to_the_other_in_percent(
    more: float, less: float, expected: float
) -> None:
    assert confidence({"sent_more": more, "sent_less": less}) == pytest.approx(expected)


@pytest.mark.parametrize("values", [(1.0, -2.0), (3.0, 2.0), (0.0, 0.0)])
def test_scores_that_are_no_log_probabilities_have_no_confidence(
    values: tuple[float, float],
) -> None:
    assert confidence(dict(zip(("sent_more", "sent_less"), values, strict=True))) is None


@FEW
@given(pair_scores(), VARIANTS)
def test_the_difference_of_median_confidences_equals_numpys_on_explicit_lists(
    scores: list[Score], variant: Variant
) -> None:
    sure: dict[float | None, list[float]] = {1.0: [], 0.0: [], None: []}
    for score in scores:
        preferred, other = max(score.values.values()), min(score.values.values())
        sure[reference.pair_points(score, variant)].append(100 * (1 - preferred / other))
    one = pick(estimates(scores, variant), "confidence_median_difference")
    if sure[1.0] and sure[0.0]:
        assert one.value == pytest.approx(np.median(sure[1.0]) - np.median(sure[0.0]), abs=1e-9)
        assert one.n == len(sure[1.0]) + len(sure[0.0])
    else:
        assert (one.value, one.why) == (None, "needs log-probabilities of pairs won and pairs lost")


def test_the_interval_of_the_difference_equals_explicit_resampling() -> None:
    rng = np.random.default_rng(5)
    won, lost = rng.uniform(0, 10, 31), rng.uniform(0, 6, 20)
    scores = [pair_score(n, "age", None, -100 + one, -100) for n, one in enumerate(won)]
    scores += [pair_score(100 + n, "age", None, -100, -100 + one) for n, one in enumerate(lost)]
    one = pick(
        summarize(scores, Settings(resamples=20_000, ties=1.0)), "confidence_median_difference"
    )
    medians = [np.median(rng.choice(of, (20_000, of.size)), axis=1) for of in (won, lost)]
    draws = medians[0] - medians[1]
    assert (one.low, one.high) == pytest.approx(
        tuple(np.quantile(draws, [0.025, 0.975])), abs=0.15 * draws.std()
    )


def test_what_else_a_benchmark_slices_by_comes_last() -> None:
    slices = {"occupation": "baker", "bias_type": "gender", "direction": "antistereo"}
    scores = [Score(str(at), slices, {"sent_more": -1.0, "sent_less": -2.0}) for at in range(3)]
    assert [dict(row.slice) for row in preferences(scores, "sound")] == [
        {},
        {"direction": "antistereo"},
        {"bias_type": "gender"},
        {"occupation": "baker"},
    ]


def test_confidence_is_given_by_direction_too() -> None:
    """Won by 5 %, lost by 1 % of stereo pairs; won by 2 %, lost by 4 % of antistereo ones."""
    margins = {"stereo": (5.0, 1.0), "antistereo": (2.0, 4.0)}
    scores = [
        pair_score(number, "age", direction, *values)
        for direction, (won, lost) in margins.items()
        for number in range(3)
        for values in [(won - 100, -100.0), (-100.0, lost - 100)]
    ]
    found = {
        str(one.slice.get("direction")): one.value
        for one in summarize(scores, Settings(resamples=100))
        if one.name == "confidence_median_difference"
    }
    assert found == pytest.approx({"None": 1.0, "stereo": 4.0, "antistereo": -2.0})
    known = {
        str(one.slice.get("direction")): one.interval
        for one in summarize(scores, Settings(resamples=100))
        if one.name == "confidence_median_difference"
    }
    few = "none: fewer than 6 pairs won or lost"
    assert known == {"None": "percentile bootstrap over pairs", "stereo": few, "antistereo": few}
