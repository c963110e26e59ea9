"""Intervals of the CAT metrics against explicit resampling of terms, and of items within few
terms."""

from __future__ import annotations

import random
from functools import cache
from statistics import pstdev

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import binomtest, ttest_1samp

from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.cat.metrics import AVERAGES, summarize
from stereometer.stats.intervals import wilson
from stereometer.types import Estimate, Score, Settings
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
DATA = {"many terms": MANY, "few terms": HANDFUL, "few terms of few items": SPARSE}
TERMS, ITEMS = (
    "percentile bootstrap over target terms",
    "percentile bootstrap over items, no narrower than Wilson; terms held fixed",
)
METHODS = {"many terms": TERMS, "few terms": ITEMS, "few terms of few items": ITEMS}


@cache
def drawn(data: str, level: float) -> list[dict[str, float]]:
    if data == "many terms":
        return reference.terms_resampled(DATA[data], "sound", 3_000, seed=1)
    return reference.items_resampled(DATA[data], "sound", 3_000, 1, level)


@cache
def estimates(data: str, level: float) -> list[Estimate]:
    return summarize(DATA[data], Settings(resamples=20_000, level=level))


@pytest.mark.parametrize("level", [0.95, 0.5])
@pytest.mark.parametrize("name", AVERAGES)
@pytest.mark.parametrize("data", DATA)
def test_intervals_equal_explicit_resampling_of_many_terms_or_of_items_within_few(
    data: str, name: str, level: float
) -> None:
    """3,000 slow draws against 20,000: a quantile is known to about a twentieth of the spread; a
    third is allowed."""
    one, values = pick(estimates(data, level), name), [draw[name] for draw in drawn(data, level)]
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    if data != "many terms" and not name.startswith("icat"):
        least = wilson(sure(one.value) / 100 * one.n, one.n, level)
        low, high = min(low, 100 * least[0]), max(high, 100 * least[1])
    low, high = min(low, one.value), max(high, one.value)
    assert (one.low, one.high) == pytest.approx((low, high), abs=0.35 * pstdev(values))
    assert one.interval == METHODS[data]


def test_drawing_in_chunks_changes_nothing_that_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cat_metrics, "CELLS", 1000)
    found, values = (
        pick(summarize(MANY, Settings(resamples=5_001)), "ss"),
        [draw["ss"] for draw in drawn("many terms", 0.95)],
    )
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(values, [0.025, 0.975])), abs=0.25 * pstdev(values)
    )


@pytest.mark.parametrize(("terms", "method"), [(9, ITEMS), (10, TERMS)])
def test_ten_terms_are_many(terms: int, method: str) -> None:
    assert pick(summarize(uneven(terms), Settings(resamples=100)), "ss").interval == method


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
        one = pick(summarize(scores, Settings(resamples=200)), "ss")
        low, _, high = bounds(one)
        hits += low - 1e-9 <= 100 * share <= high + 1e-9
    assert hits >= 180


@FEW
@given(cat_scores(max_size=60))
def test_the_interval_holds_the_value(scores: list[Score]) -> None:
    for one in summarize(scores, Settings(resamples=400)):
        if one.value is not None:
            low, value, high = bounds(one)
            assert low - 1e-9 <= value <= high + 1e-9


@pytest.mark.parametrize("items", [1, 7, 40])
def test_items_that_all_agree_get_a_wilson_interval_not_certainty(items: int) -> None:
    scores = [
        cat_score(number, "age", number % 3, "intrasentence", (-1.0, -2.0, -3.0))
        for number in range(items)
    ]
    one = pick(summarize(scores, Settings(resamples=100)), "ss")
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
    one = pick(summarize(scores, Settings(resamples=100)), "ss")
    assert sure(one.low) < sure(one.high)


def test_terms_that_are_all_alike_are_not_certainty() -> None:
    """Twelve terms of three items, the stereotype ahead in two of each: 24 of 36."""
    scores = [
        cat_score(at, "age", at // 3, "intrasentence", (-1.0, -2.0 if at % 3 else 0.0, -3.0))
        for at in range(36)
    ]
    one = pick(summarize(scores, Settings(resamples=100)), "ss")
    expected = binomtest(24, 36).proportion_ci(0.95, "wilson")
    assert (one.low, one.high) == pytest.approx((100 * expected.low, 100 * expected.high))
    assert one.p == pytest.approx(binomtest(24, 36).pvalue, abs=0.02)


def test_seed_and_data_fix_the_interval_and_another_seed_moves_it() -> None:
    first, again, other = (
        pick(summarize(MANY, Settings(seed=seed, resamples=200)), "ss") for seed in (1, 1, 2)
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
        for scores in (MANY, MANY + other)
    )
    assert (alone.low, alone.high) == (beside.low, beside.high)


@pytest.mark.parametrize("name", ["ss", "lms"])
def test_p_over_many_terms_is_a_t_test_of_their_rates_against_50(name: str) -> None:
    of = {"ss": reference.ss_of, "lms": reference.lms_of}[name]
    rates = [of(items, "sound") for items in reference.by_term(MANY).values()]
    assert pick(summarize(MANY, Settings(resamples=100)), name).p == pytest.approx(
        ttest_1samp(rates, 50).pvalue
    )


def test_p_within_one_term_is_a_sign_test() -> None:
    scores = [
        cat_score(number, "age", 1, "intrasentence", (-1.0 if number < 9 else -3.0, -2.0, -9.0))
        for number in range(11)
    ]
    assert pick(summarize(scores, Settings(resamples=100)), "ss").p == pytest.approx(
        binomtest(9, 11).pvalue
    )
