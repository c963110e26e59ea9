"""Intervals of the CAT metrics against explicit resampling of terms, and of items within few
terms."""

from __future__ import annotations

import random
from functools import cache
from statistics import pstdev

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import binomtest, t, ttest_1samp

from stereometer.core.stats.intervals import wilson
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.cats.metrics import summarize
from stereometer.kinds.cats.points import AVERAGES
from tests.builders import reference
from tests.builders.little import pick
from tests.builders.sure import bounds, sure
from tests.strategies import FEW, cat_score, cat_scores


def uneven(terms: int, seed: int = 3, sizes: tuple[int, int] = (3, 9)) -> list[Score]:
    """Terms with unlike numbers of items and unlike leanings."""
    rng = random.Random(seed)
    scores: list[Score] = []
    for term in range(terms):
        lean = rng.uniform(-1, 1)
        for _ in range(rng.randint(*sizes)):
            values = (rng.gauss(lean, 1), rng.gauss(0, 1), rng.gauss(-1, 1))
            scores.append(cat_score(len(scores), "age", term, "intrasentence", values))
    return scores


MANY, HANDFUL, SPARSE = (
    uneven(14),
    uneven(4, seed=6, sizes=(15, 25)),
    uneven(8, seed=5, sizes=(1, 5)),
)
DATA = {"few terms": HANDFUL, "few terms of few items": SPARSE}
BENT = ("icat", "icat_micro")
"""Metrics that bend at an ss of 50."""
TERMS, ITEMS = (
    "t over target terms",
    "percentile bootstrap over items, no narrower than Wilson; terms held fixed",
)


@cache
def drawn(data: str, level: float) -> list[dict[str, float]]:
    return reference.items_resampled(DATA[data], "sound", 3_000, 1, level)


@cache
def estimates(data: str, level: float) -> list[Estimate]:
    return summarize(DATA[data], Settings(resamples=20_000, level=level, ties=1.0))


@pytest.mark.long
@pytest.mark.parametrize("level", [0.95, 0.5])
@pytest.mark.parametrize("name", [name for name in AVERAGES if name not in BENT])
@pytest.mark.parametrize("data", DATA)
def test_few_terms_equal_explicit_resampling_of_their_items(
    data: str, name: str, level: float
) -> None:
    """3,000 slow draws against 20,000: a quantile is known to about a twentieth of the spread; a
    third is allowed."""
    one, values = pick(estimates(data, level), name), [draw[name] for draw in drawn(data, level)]
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    if not name.startswith("icat"):
        least = wilson(sure(one.value) / 100 * one.n, one.n, level)
        low, high = min(low, 100 * least[0]), max(high, 100 * least[1])
    low, high = min(low, one.value), max(high, one.value)
    assert (one.low, one.high) == pytest.approx((low, high), abs=0.35 * pstdev(values))
    assert (one.interval, one.scope) == (ITEMS, "these terms")


@pytest.mark.parametrize("name", BENT)
@pytest.mark.parametrize("data", DATA)
def test_icat_of_few_terms_is_the_smaller_of_its_two_sides(data: str, name: str) -> None:
    one, draws = pick(estimates(data, 0.95), name), drawn(data, 0.95)
    parts = [
        (draw[name.replace("icat", "lms")], draw[name.replace("icat", "ss")]) for draw in draws
    ]
    above, below = (
        [lms * ss / 50 for lms, ss in parts],
        [lms * (100 - ss) / 50 for lms, ss in parts],
    )
    ends = zip(*(np.quantile(side, [0.025, 0.975]) for side in (above, below)), strict=True)
    assert (one.low, one.high) == pytest.approx(
        [min(end) for end in ends], abs=0.35 * max(pstdev(above), pstdev(below))
    )


def rates_of(scores: list[Score]) -> tuple[list[float], list[float], list[int]]:
    """lms, ss and the number of items of every term."""
    lms, ss, n = zip(
        *(reference.rate_of(items, "sound") for items in reference.by_term(scores).values()),
        strict=True,
    )
    return list(lms), list(ss), list(n)


@pytest.mark.parametrize("level", [0.95, 0.5])
@pytest.mark.parametrize("name", ["ss", "icat_term_mean"])
def test_many_terms_get_students_interval_of_their_rates(name: str, level: float) -> None:
    lms, ss, _ = rates_of(MANY)
    icats = [reference.icat_of(*both) for both in zip(lms, ss, strict=True)]
    values = {"ss": ss, "icat_term_mean": icats}[name]
    one = pick(summarize(MANY, Settings(level=level)), name)
    expected = ttest_1samp(values, 50).confidence_interval(level)
    assert (one.low, one.high) == pytest.approx((max(0, expected.low), min(100, expected.high)))
    assert (one.interval, one.scope) == (TERMS, "terms like these")


def over_items(rates: np.ndarray, n: np.ndarray) -> tuple[float, float, float]:
    """The mean over items, its standard error over terms of unequal size, and its freedom."""
    weights = n / n.sum()
    value = float((weights * rates).sum())
    error = np.sqrt(((weights * (rates - value)) ** 2 / (1 - weights)).sum())
    return value, float(error), 1 / float((weights**2).sum()) - 1


def test_averages_over_items_are_ratios_over_terms() -> None:
    _, ss, n = map(np.array, rates_of(MANY))
    value, error, free = over_items(ss, n)
    one = pick(summarize(MANY, Settings()), "ss_micro")
    half = t.ppf(0.975, free) * error
    assert (one.low, one.high) == pytest.approx((value - half, value + half))


@pytest.mark.parametrize("name", ["lms", "lms_micro"])
def test_lms_is_as_many_items_as_its_spread_over_terms_shows(name: str) -> None:
    """Both ends of Wilson's interval are t standard errors of their own from the value."""
    lms, _, n = map(np.array, rates_of(MANY))
    value, error, free = over_items(lms, n if name == "lms_micro" else np.ones(14))
    items = min(n.sum(), value * (100 - value) / error**2)
    one = pick(summarize(MANY, Settings()), name)
    for end in (sure(one.low), sure(one.high)):
        away = abs(value - end) / np.sqrt(end * (100 - end) / items)
        assert away == pytest.approx(t.ppf(0.975, free))
    assert one.interval == "Wilson over target terms"


def test_terms_whose_lms_is_100_show_no_more_than_themselves() -> None:
    """Twelve terms of 60 items without a fault: 12 independent ones, not 720."""
    scores = [
        cat_score(at, "age", at % 12, "intrasentence", (at % 7 / 7, 0.5, -9.0)) for at in range(720)
    ]
    one = pick(summarize(scores, Settings(ties=1.0)), "lms")
    lowest = 100 / (1 + t.ppf(0.975, 11) ** 2 / 12)
    assert bounds(one) == pytest.approx((lowest, 100.0, 100.0))


def test_a_few_large_terms_are_few_terms_for_averages_over_items() -> None:
    """Twenty terms, one of them with half of the items."""
    scores = [
        cat_score(at, "age", max(0, at - 99), "intrasentence", ((at * 7 % 5) / 5, 0.45, -1.0))
        for at in range(119)
    ]
    rows = summarize(scores, Settings(resamples=200))
    scopes = {name: pick(rows, name).scope for name in ("ss", "ss_micro", "lms_micro")}
    assert scopes == {
        "ss": "terms like these",
        "ss_micro": "these terms",
        "lms_micro": "these terms",
    }


def test_icat_is_the_smaller_of_two_sides_by_the_delta_method() -> None:
    """With the covariance of lms and ss over terms, as one would write it with matrices."""
    lms, ss, _ = map(np.array, rates_of(MANY))
    means, spread = np.array([lms.mean(), ss.mean()]), np.cov(lms, ss) / lms.size
    slopes = np.array([[means[1], means[0]], [100 - means[1], -means[0]]]) / 50
    values = np.array([means[0] * means[1], means[0] * (100 - means[1])]) / 50
    half = t.ppf(0.975, lms.size - 1) * np.sqrt(np.einsum("ij,jk,ik->i", slopes, spread, slopes))
    one = pick(summarize(MANY, Settings()), "icat")
    assert (one.low, one.high) == pytest.approx((min(values - half), min(values + half)))


@FEW
@given(cat_scores(terms=12, max_size=80))
def test_interval_and_uncorrected_p_agree(scores: list[Score]) -> None:
    for one in summarize(scores, Settings(resamples=100, ties=1.0)):
        if one.p is not None and one.interval == TERMS:
            assert (one.p < 0.05) == (not sure(one.low) <= 50 <= sure(one.high))


@pytest.mark.parametrize(("terms", "method"), [(9, ITEMS), (10, TERMS)])
def test_ten_terms_are_many(terms: int, method: str) -> None:
    assert (
        pick(summarize(uneven(terms), Settings(resamples=100, ties=1.0)), "ss").interval == method
    )


@pytest.mark.long
@pytest.mark.parametrize("share", [0.5, 0.8])
@pytest.mark.parametrize(("terms", "items"), [(8, 2), (4, 3), (1, 20), (3, 26)])
def test_few_terms_of_few_items_cover_the_truth_as_often_as_they_say(
    terms: int, items: int, share: float
) -> None:
    """200 sets with a known share: an interval of 95 % that held it in fewer than 90 % would be
    three deviations too low."""
    rng, hits = random.Random(terms * items), 0
    for _ in range(200):
        likes = [rng.random() < share for _ in range(terms * items)]
        scores = [
            cat_score(at, "age", at % terms, "intrasentence", (-1.0, -2.0 if like else 0.0, -3.0))
            for at, like in enumerate(likes)
        ]
        one = pick(summarize(scores, Settings(resamples=200, ties=1.0)), "ss")
        low, _, high = bounds(one)
        hits += low - 1e-9 <= 100 * share <= high + 1e-9
    assert hits >= 180


@FEW
@given(cat_scores(max_size=60))
def test_the_interval_holds_the_value(scores: list[Score]) -> None:
    for one in summarize(scores, Settings(resamples=400, ties=1.0)):
        if one.value is not None:
            low, value, high = bounds(one)
            assert low - 1e-9 <= value <= high + 1e-9


@pytest.mark.parametrize("items", [1, 7, 40])
def test_items_that_all_agree_get_a_wilson_interval_not_certainty(items: int) -> None:
    scores = [
        cat_score(number, "age", number % 3, "intrasentence", (-1.0, -2.0, -3.0))
        for number in range(items)
    ]
    one = pick(summarize(scores, Settings(resamples=100, ties=1.0)), "ss")
    wilson = binomtest(items, items).proportion_ci(0.95, "wilson")
    assert one.value == 100
    assert one.interval == "Wilson: all items agree; terms held fixed"
    assert (one.low, one.high) == pytest.approx((100 * wilson.low, 100 * wilson.high))
    assert sure(one.low) < 100


def test_agreement_over_many_terms_is_not_certainty_either() -> None:
    scores = [
        cat_score(number, "age", number, "intrasentence", (-1.0, -2.0, -3.0))
        for number in range(12)
    ]
    one = pick(summarize(scores, Settings(resamples=100, ties=1.0)), "ss")
    assert sure(one.low) < sure(one.high)


def test_terms_that_are_all_alike_are_not_certainty() -> None:
    """Twelve terms of three items, the stereotype ahead in two of each: 24 of 36."""
    scores = [
        cat_score(at, "age", at // 3, "intrasentence", (-1.0, -2.0 if at % 3 else 0.0, -3.0))
        for at in range(36)
    ]
    one = pick(summarize(scores, Settings(resamples=100, ties=1.0)), "ss")
    expected = binomtest(24, 36).proportion_ci(0.95, "wilson")
    assert (one.low, one.high) == pytest.approx((100 * expected.low, 100 * expected.high))
    assert one.p == pytest.approx(binomtest(24, 36).pvalue, abs=0.02)


def test_seed_and_data_fix_the_interval_and_another_seed_moves_it() -> None:
    first, again, other = (
        pick(summarize(HANDFUL, Settings(seed=seed, resamples=200, ties=1.0)), "ss", domain="age")
        for seed in (1, 1, 2)
    )
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


def test_what_else_is_computed_does_not_move_an_interval() -> None:
    """Every slice has a stream of its own: adding another domain leaves this one's interval as it
    was."""
    other = [
        cat_score(1000 + number, "trade", number, "intersentence", (-1.0, -2.0, -1.5))
        for number in range(11)
    ]
    alone, beside = (
        pick(summarize(scores, Settings(resamples=200)), "ss", domain="age")
        for scores in (HANDFUL, HANDFUL + other)
    )
    assert (alone.low, alone.high) == (beside.low, beside.high)


def test_p_over_many_terms_is_a_t_test_of_their_rates_against_50() -> None:
    rates = [reference.ss_of(items, "sound") for items in reference.by_term(MANY).values()]
    rows = summarize(MANY, Settings(resamples=100, ties=1.0))
    assert pick(rows, "ss").p == pytest.approx(ttest_1samp(rates, 50).pvalue)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_p_of_lms_is_small_just_where_its_interval_leaves_out_50(level: float) -> None:
    for seed in range(3, 23):
        one = pick(summarize(uneven(11, seed), Settings(resamples=100, level=level)), "lms")
        low, _, high = bounds(one)
        assert (sure(one.p) < 1 - level) == (not low <= 50 <= high)


def test_p_within_one_term_is_a_sign_test() -> None:
    scores = [
        cat_score(number, "age", 1, "intrasentence", (-1.0 if number < 9 else -3.0, -2.0, -9.0))
        for number in range(11)
    ]
    assert pick(summarize(scores, Settings(resamples=100, ties=1.0)), "ss").p == pytest.approx(
        binomtest(9, 11).pvalue
    )
