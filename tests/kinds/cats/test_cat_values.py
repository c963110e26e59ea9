"""lms, ss and icat against a plain loop over items (methods.md, section 1)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.types import Estimate, Score, Settings, Variant
from stereometer.kinds.cats.metrics import summarize
from stereometer.kinds.cats.points import AVERAGES
from tests.builders import reference
from tests.builders.little import pick
from tests.builders.sure import bounds
from tests.strategies import MODERATE, REASONS, cat_score, cat_scores

VARIANTS = st.sampled_from(["paper", "sound"])
OPEN = 0.0
"""A coverage floor that lets every answered item speak."""


def estimates(scores: list[Score], variant: Variant) -> list[Estimate]:
    return summarize(scores, Settings(variant, resamples=100, coverage=OPEN, ties=1.0))


@MODERATE
@given(cat_scores(reasons=REASONS), VARIANTS)
def test_every_average_of_every_slice_equals_a_loop_over_items(
    scores: list[Score], variant: Variant
) -> None:
    for one in estimates(scores, variant):
        terms = list(reference.by_term(reference.inside(scores, dict(one.slice))).values())
        if terms:
            assert one.value == pytest.approx(
                reference.cat_averages(terms, variant)[one.name], abs=1e-9
            )
            assert one.terms == len(terms)
        else:
            assert one.value is None


def test_a_term_without_a_name_is_a_term() -> None:
    slices = {"task": "intrasentence", "domain": "age", "target": ""}
    named = [cat_score(at, "age", at % 2, "intrasentence", (0.0, -1.0, -2.0)) for at in range(4)]
    nameless = [
        Score(f"nameless-{at}", slices, {"stereotype": 0.0, "anti-stereotype": 1.0, "unrelated": 2})
        for at in range(3)
    ]
    rows = estimates(named + nameless, "sound")
    assert pick(rows, "ss").terms == 3
    assert pick(rows, "ss").value == pytest.approx(200 / 3)
    assert pick(rows, "ss", domain="age", target="").value == 0.0


@MODERATE
@given(cat_scores(reasons=REASONS), VARIANTS)
def test_every_slice_is_there_once(scores: list[Score], variant: Variant) -> None:
    found = [(one.name, tuple(sorted(one.slice.items()))) for one in estimates(scores, variant)]
    tasks = {score.slices["task"] for score in scores}
    domains = {score.slices["domain"] for score in scores}
    targets = {score.slices["target"] for score in scores}
    slices = 1 + len(tasks) + len(domains) + len(tasks) * len(domains)
    assert len(found) == len(set(found)) == slices * len(AVERAGES) + 3 * len(targets)


@MODERATE
@given(cat_scores(), VARIANTS)
def test_values_and_intervals_stay_between_0_and_100(scores: list[Score], variant: Variant) -> None:
    for one in estimates(scores, variant):
        if one.value is not None:
            low, value, high = bounds(one)
            assert -1e-9 <= low <= high <= 100 + 1e-9
            assert -1e-9 <= value <= 100 + 1e-9


def swapped(score: Score) -> Score:
    values = dict(score.values)
    values["stereotype"], values["anti-stereotype"] = (
        values["anti-stereotype"],
        values["stereotype"],
    )
    return Score(score.item, score.slices, values, score.skipped)


@pytest.mark.long
@MODERATE
@given(cat_scores())
def test_swapping_stereotype_and_anti_stereotype_mirrors_ss_and_keeps_icat_under_sound(
    scores: list[Score],
) -> None:
    before, after = (
        estimates(scores, "sound"),
        estimates([swapped(score) for score in scores], "sound"),
    )
    assert_mirrored(before, after)


@pytest.mark.long
@MODERATE
@given(cat_scores())
def test_swapping_mirrors_ss_under_paper_where_nothing_ties(scores: list[Score]) -> None:
    untied = [
        score for score in scores if score.values["stereotype"] != score.values["anti-stereotype"]
    ]
    assert_mirrored(
        estimates(untied, "paper"), estimates([swapped(score) for score in untied], "paper")
    )


def assert_mirrored(before: list[Estimate], after: list[Estimate]) -> None:
    for one, other in zip(before, after, strict=True):
        if one.value is not None:
            expected = 100 - one.value if one.name.startswith("ss") else one.value
            assert other.value == pytest.approx(expected, abs=1e-9)


def test_a_tie_is_lost_under_paper_and_half_won_under_sound() -> None:
    scores = [cat_score(0, "age", 1, "intrasentence", (-1.0, -1.0, -1.0))]
    paper, sound = estimates(scores, "paper"), estimates(scores, "sound")
    assert (pick(paper, "ss").value, pick(paper, "lms").value, pick(paper, "icat").value) == (
        0.0,
        0.0,
        0.0,
    )
    assert (pick(sound, "ss").value, pick(sound, "lms").value, pick(sound, "icat").value) == (
        50.0,
        50.0,
        50.0,
    )
    for found in (paper, sound):
        assert (pick(found, "ss").ties, pick(found, "lms").ties, pick(found, "icat").ties) == (
            1,
            2,
            3,
        )


@pytest.mark.parametrize(("gap", "ss"), [(0.0, 50.0), (9.9e-7, 50.0), (1.1e-6, 100.0)])
def test_sound_ties_are_closer_than_a_millionth(gap: float, ss: float) -> None:
    scores = [cat_score(0, "age", 1, "intrasentence", (gap, 0.0, -5.0))]
    assert pick(estimates(scores, "sound"), "ss").value == ss


@MODERATE
@given(cat_scores(reasons=REASONS), VARIANTS, st.randoms(use_true_random=False))
def test_the_order_of_items_changes_nothing(
    scores: list[Score], variant: Variant, shuffler: random.Random
) -> None:
    mixed = list(scores)
    shuffler.shuffle(mixed)
    assert estimates(mixed, variant) == estimates(scores, variant)
