"""What the p-values are corrected over, and the words that follow from them."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from scipy.stats import false_discovery_control

from stereometer.core.errors import UsageError
from stereometer.core.shapes.verdicts import (
    EXPLORATORY,
    LANGUAGE,
    OVERALL,
    PREFERENCE,
    SLICES,
    judged,
)
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.cats import metrics as cat_metrics
from stereometer.kinds.pairs import metrics as pair_metrics
from tests.builders import reference
from tests.builders.sure import sure
from tests.strategies import FEW, cat_scores, pair_scores


def families(estimates: list[Estimate], fine: bool) -> list[list[Estimate]]:
    """By metric, overall apart from the slices; single terms apart."""
    rows: dict[tuple[object, ...], list[Estimate]] = defaultdict(list)
    for row in estimates:
        if row.p is not None and ("target" in row.slice) == fine:
            rows[row.name, bool(row.slice)].append(row)
    return list(rows.values())


def assert_corrected(estimates: list[Estimate]) -> None:
    for family in families(estimates, fine=False):
        adjusted = reference.holm([sure(row.p) for row in family])
        assert [row.p_adjusted for row in family] == pytest.approx(adjusted)
        assert {row.tests for row in family} == {len(family)}
        assert {row.correction for row in family} == {SLICES if family[0].slice else OVERALL}


@FEW
@given(cat_scores(terms=12))
def test_overall_is_one_family_and_all_slices_another(scores: list[Score]) -> None:
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
def test_the_families_of_pairs_are_the_same(scores: list[Score]) -> None:
    assert_corrected(pair_metrics.summarize(scores, Settings(resamples=100, ties=1.0)))


def estimate(
    value: float,
    p: float,
    name: str = "ss",
    equivalent: bool = False,
    half: float = 1.5,
    **slice_: str,
) -> Estimate:
    return Estimate(
        name,
        slice_,
        value,
        value - half,
        value + half,
        10,
        10,
        0,
        50.0,
        p=p,
        test="t",
        equivalent=equivalent,
        detectable=8.6,
    )


OPEN = "undecided: 49.0 to 65.0 all fit; an effect of 8.6 or more would show"


@pytest.mark.parametrize(
    ("value", "half", "p", "equivalent", "says"),
    [
        (57, 4.9, 0.006, False, "prefers stereotypes"),
        (43, 4.9, 0.01, False, "prefers anti-stereotypes"),
        (52, 1.5, 0.01, True, "prefers stereotypes, by less than 5 points"),
        (48, 1.5, 0.01, True, "prefers anti-stereotypes, by less than 5 points"),
        (51, 1.5, 0.06, True, "within 5 points of 50"),
        (57, 8, 0.06, False, OPEN),
        (57, 8, 0.04, False, OPEN),
        (55, 4.9, 0.051, False, "leans to stereotypes; not beyond noise"),
    ],
)
def test_the_verdict_of_the_overall_row_agrees_with_its_interval(
    value: float, half: float, p: float, equivalent: bool, says: str
) -> None:
    overall = estimate(value, p, equivalent=equivalent, half=half)
    others = [estimate(50, 0.9, half=20, domain=str(at)) for at in range(11)]
    row = judged([overall, *others], {"ss": PREFERENCE}, Settings())[0]
    assert (row.verdict, row.tests) == (says, 1)
    assert row.beyond_noise == says.startswith("prefers")


@pytest.mark.parametrize(
    ("value", "equivalent", "says"),
    [
        (57, False, "leans to stereotypes; not beyond noise among 12 tests"),
        (43, False, "leans to anti-stereotypes; not beyond noise among 12 tests"),
        (52, True, "leans to stereotypes, by less than 5 points; not beyond noise among 12 tests"),
    ],
)
def test_a_slice_that_its_family_holds_back_leans(
    value: float, equivalent: bool, says: str
) -> None:
    slices = [estimate(value, 0.01, equivalent=equivalent, domain="age")]
    slices += [estimate(50, 0.9, half=20, domain=str(at)) for at in range(11)]
    row = judged([estimate(50, 1.0), *slices], {"ss": PREFERENCE}, Settings())[1]
    assert (row.verdict, row.beyond_noise) == (says, False)


def test_the_margin_is_the_one_that_was_set() -> None:
    near = [estimate(51 + at, p, equivalent=True) for at, p in enumerate((0.06, 0.01))]
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


def test_a_slice_without_a_number_is_no_test() -> None:
    empty = Estimate(
        "ss", {"domain": "age"}, None, None, None, 0, 5, 0, 50.0, why="nothing could be scored"
    )
    rows = judged([empty, estimate(60, 0.03, domain="trade")], {"ss": PREFERENCE}, Settings())
    assert rows[0] == empty
    assert rows[1].tests == 1
