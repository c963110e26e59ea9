"""The trend over the steps of a series: its size, its power, and what it is a mean of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stereometer.core.types import Score, Settings
from stereometer.kinds.cats.shape import SHAPE as CAT
from stereometer.kinds.pairs.shape import SHAPE as PAIR
from stereometer.report.trend import FALLS, NO_TREND, RISES, changes, trends
from tests.builders.sure import sure

STEPS, ITEMS = 8, 120


def series(rng: np.random.Generator, drift: float) -> list[list[Score]]:
    """Pairs whose items lean one way or the other for good, with noise at every step."""
    lean = rng.normal(0, 1, ITEMS)
    return [
        [
            Score(f"p{at}", {"bias_type": "age"}, {"sent_more": float(value), "sent_less": 0.0})
            for at, value in enumerate(lean + drift * step / STEPS + rng.normal(0, 1, ITEMS))
        ]
        for step in range(STEPS)
    ]


@pytest.mark.long
def test_without_a_trend_it_rejects_as_often_as_it_should() -> None:
    """At 5 % of 1,000 null series: within three standard errors."""
    rng = np.random.default_rng(0)
    rejected = sum(
        trend.verdict != NO_TREND
        for _ in range(1000)
        for trend in trends(series(rng, 0.0), PAIR, Settings())
    )
    assert rejected <= 71


@pytest.mark.parametrize(("drift", "says"), [(1.5, RISES), (-1.5, FALLS)])
def test_a_trend_is_found_with_its_direction(drift: float, says: str) -> None:
    rng = np.random.default_rng(1)
    (trend,) = trends(series(rng, drift), PAIR, Settings())
    assert trend.verdict == says
    assert sure(trend.low) < trend.change < sure(trend.high)
    assert (trend.n, trend.units) == (ITEMS, ITEMS)


def test_pairs_of_one_term_or_of_the_same_texts_are_one_unit() -> None:
    termed = [
        [replace(pair, slices={"target": f"t{at % 20}"}) for at, pair in enumerate(step)]
        for step in series(np.random.default_rng(3), 1.5)
    ]
    copies = [
        [
            replace(pair, slices={}, texts={"sent_more": str(at % 20)})
            for at, pair in enumerate(step)
        ]
        for step in termed
    ]
    for steps in (termed, copies):
        (trend,) = trends(steps, PAIR, Settings())
        assert (trend.n, trend.units) == (ITEMS, 20)


def test_the_change_is_that_of_the_least_squares_line() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(5, 7))
    expected = [np.polyfit(range(7), row, 1)[0] * 6 for row in values]
    assert changes(values) == pytest.approx(expected)


def cat(item: str, target: str, stereotype: float) -> Score:
    values = {"stereotype": stereotype, "anti-stereotype": 0.0, "unrelated": -1.0}
    slices = {"task": "intrasentence", "domain": "gender", "target": target}
    return Score(item, slices, values)


def test_items_of_a_target_term_are_one_unit() -> None:
    """Term a turns to the stereotype at the last of four steps with all its items, b never."""
    steps = [
        [cat(f"{t}{at}", t, 1.0 if t == "a" and step == 3 else -0.5) for t in "ab" for at in "12"]
        for step in range(4)
    ]
    known = {trend.name: trend for trend in trends(steps, CAT, Settings())}
    assert known["ss"].units == 2
    assert known["ss"].n == 4
    assert known["ss"].change == pytest.approx(45.0)  # 90 along the line, for one term of two


def test_steps_that_never_change_are_not_certain() -> None:
    (trend,) = trends([series(np.random.default_rng(3), 1.0)[0]] * 4, PAIR, Settings())
    assert (trend.change, trend.low, trend.high, trend.p) == (0, None, None, None)


def test_three_steps_are_no_series() -> None:
    rng = np.random.default_rng(3)
    assert trends(series(rng, 1.0)[:3], PAIR, Settings()) == []


def test_items_that_one_system_did_not_answer_are_left_out() -> None:
    steps = series(np.random.default_rng(4), 0.5)
    steps[3][7] = Score("p7", {"bias_type": "age"}, {}, "no answer")
    (trend,) = trends(steps, PAIR, Settings())
    assert trend.n == ITEMS - 1
