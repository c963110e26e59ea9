"""What the p-values are corrected over, and the words that follow from them."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given

from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.shapes.verdicts import LANGUAGE, PREFERENCE, judged
from stereometer.types import Estimate, Score, Settings
from tests.builders import reference
from tests.builders.sure import sure
from tests.strategies import FEW, cat_scores, pair_scores


def families(estimates: list[Estimate]) -> list[list[Estimate]]:
    found: dict[tuple[object, ...], list[Estimate]] = defaultdict(list)
    for one in estimates:
        if one.p is not None:
            found[one.name, frozenset(one.slice)].append(one)
    return list(found.values())


def assert_corrected(estimates: list[Estimate]) -> None:
    for family in families(estimates):
        adjusted = reference.holm([sure(one.p) for one in family])
        assert [one.p_adjusted for one in family] == pytest.approx(adjusted)
        assert {one.tests for one in family} == {len(family)}


@FEW
@given(cat_scores())
def test_cat_slices_that_fix_the_same_things_are_one_family(scores: list[Score]) -> None:
    assert_corrected(cat_metrics.summarize(scores, Settings(resamples=100)))


@FEW
@given(pair_scores())
def test_pair_slices_that_fix_the_same_things_are_one_family(scores: list[Score]) -> None:
    assert_corrected(pair_metrics.summarize(scores, Settings(resamples=100)))


def estimate(value: float, p: float, name: str = "ss", **slice_: str) -> Estimate:
    return Estimate(name, slice_, value, value - 1, value + 1, 10, 10, 0, 50.0, p=p)


@pytest.mark.parametrize(
    ("value", "p", "says"),
    [
        (60, 0.01, "prefers stereotypes"),
        (40, 0.01, "prefers anti-stereotypes"),
        (60, 0.06, "not distinguishable from 50"),
        (50, 0.01, "not distinguishable from 50"),
    ],
)
def test_the_words_about_preference(value: float, p: float, says: str) -> None:
    (one,) = judged([estimate(value, p)], {"ss": PREFERENCE}, 0.95)
    assert one.verdict == says


@pytest.mark.parametrize(("value", "says"), [(60, "better than chance"), (40, "worse than chance")])
def test_the_words_about_language(value: float, says: str) -> None:
    (one,) = judged([estimate(value, 0.001, "lms")], {"lms": LANGUAGE}, 0.95)
    assert one.verdict == says


def test_a_verdict_counts_the_other_tests_of_its_family() -> None:
    """p = 0.03 convinces alone and not beside a second test."""
    alone = judged([estimate(60, 0.03)], {"ss": PREFERENCE}, 0.95)
    beside = judged(
        [estimate(60, 0.03, domain="age"), estimate(60, 0.5, domain="trade")],
        {"ss": PREFERENCE},
        0.95,
    )
    assert alone[0].verdict == PREFERENCE.above
    assert beside[0].verdict == PREFERENCE.neither


def test_a_slice_without_a_number_is_no_test() -> None:
    empty = Estimate(
        "ss", {"domain": "age"}, None, None, None, 0, 5, 0, 50.0, why="nothing could be scored"
    )
    found = judged([empty, estimate(60, 0.03, domain="trade")], {"ss": PREFERENCE}, 0.95)
    assert found[0] == empty
    assert found[1].tests == 1
