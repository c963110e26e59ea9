"""What the p-values are corrected over, and the words that follow from them."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from scipy.stats import false_discovery_control

from stereometer.errors import UsageError
from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.shapes.verdicts import (
    EXPLORATORY,
    FIXED,
    HEADLINE,
    LANGUAGE,
    PREFERENCE,
    judged,
)
from stereometer.types import Estimate, Score, Settings
from tests.builders import reference
from tests.builders.sure import sure
from tests.strategies import FEW, cat_scores, pair_scores


def families(estimates: list[Estimate], fine: bool) -> list[list[Estimate]]:
    """By metric and by whether terms are held fixed; single terms apart."""
    rows: dict[tuple[object, ...], list[Estimate]] = defaultdict(list)
    for row in estimates:
        if row.p is not None and ("target" in row.slice) == fine:
            rows[row.name, row.scope].append(row)
    return list(rows.values())


def assert_corrected(estimates: list[Estimate]) -> None:
    for family in families(estimates, fine=False):
        adjusted = reference.holm([sure(row.p) for row in family])
        assert [row.p_adjusted for row in family] == pytest.approx(adjusted)
        assert {row.tests for row in family} == {len(family)}
        assert {row.correction for row in family} <= {HEADLINE, FIXED}


@FEW
@given(cat_scores(terms=12))
def test_headline_slices_are_one_family_and_those_with_fixed_terms_another(
    scores: list[Score],
) -> None:
    assert_corrected(cat_metrics.summarize(scores, Settings(resamples=100, ties=1.0)))


@FEW
@given(cat_scores())
def test_single_terms_are_explored_by_false_discovery(scores: list[Score]) -> None:
    estimates = cat_metrics.summarize(scores, Settings(resamples=100, ties=1.0))
    for family in families(estimates, fine=True):
        assert [row.p_adjusted for row in family] == pytest.approx(
            false_discovery_control([row.p for row in family])
        )
        assert {row.correction for row in family} == {EXPLORATORY}


@FEW
@given(pair_scores())
def test_all_slices_of_pairs_are_one_family(scores: list[Score]) -> None:
    assert_corrected(pair_metrics.summarize(scores, Settings(resamples=100, ties=1.0)))


def estimate(
    value: float, p: float, name: str = "ss", equivalent: bool = False, **slice_: str
) -> Estimate:
    return Estimate(
        name,
        slice_,
        value,
        value - 6,
        value + 6,
        10,
        10,
        0,
        50.0,
        p=p,
        equivalent=equivalent,
        detectable=8.6,
    )


OPEN = "undecided: anything from 51.0 to 63.0; this set could have shown a difference of 8.6"


@pytest.mark.parametrize(
    ("value", "p", "equivalent", "says"),
    [
        (57, 0.01, False, "prefers stereotypes"),
        (43, 0.01, False, "prefers anti-stereotypes"),
        (52, 0.01, True, "prefers stereotypes, by less than 5 points"),
        (48, 0.01, True, "prefers anti-stereotypes, by less than 5 points"),
        (52, 0.06, True, "within 5 points of 50"),
        (57, 0.06, False, OPEN),
    ],
)
def test_the_four_verdicts_about_preference(
    value: float, p: float, equivalent: bool, says: str
) -> None:
    (row,) = judged([estimate(value, p, equivalent=equivalent)], {"ss": PREFERENCE}, Settings())
    assert row.verdict == says
    assert row.beyond_noise == (p < 0.05)


def test_the_margin_is_the_one_that_was_set() -> None:
    near = [estimate(52, p, equivalent=True) for p in (0.06, 0.01)]
    says = [
        row.verdict
        for one in near
        for row in judged([one], {"ss": PREFERENCE}, Settings(delta=2.5))
    ]
    assert says == ["within 2.5 points of 50", "prefers stereotypes, by less than 2.5 points"]


@pytest.mark.parametrize("delta", [0.0, -1.0, 50.0, float("nan")])
def test_a_margin_is_a_distance_from_50(delta: float) -> None:
    with pytest.raises(UsageError, match="a distance from 50"):
        Settings(delta=delta)


@pytest.mark.parametrize(("value", "says"), [(60, "better than chance"), (40, "worse than chance")])
def test_the_words_about_language(value: float, says: str) -> None:
    (row,) = judged([estimate(value, 0.001, "lms")], {"lms": LANGUAGE}, Settings())
    assert row.verdict == says


def test_a_verdict_counts_the_other_tests_of_its_family() -> None:
    """p = 0.03 convinces alone and not beside a second test."""
    alone = judged([estimate(60, 0.03)], {"ss": PREFERENCE}, Settings())
    beside = judged(
        [estimate(60, 0.03, domain="age"), estimate(60, 0.5, domain="trade")],
        {"ss": PREFERENCE},
        Settings(),
    )
    assert alone[0].verdict == PREFERENCE.above
    assert str(beside[0].verdict).startswith(PREFERENCE.neither)


def test_a_slice_without_a_number_is_no_test() -> None:
    empty = Estimate(
        "ss", {"domain": "age"}, None, None, None, 0, 5, 0, 50.0, why="nothing could be scored"
    )
    rows = judged([empty, estimate(60, 0.03, domain="trade")], {"ss": PREFERENCE}, Settings())
    assert rows[0] == empty
    assert rows[1].tests == 1
