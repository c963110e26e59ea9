"""The table that readings are counted from: averages, ties, and what swapped labels do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stereometer.core.stats.means import StudentMean
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.cats.shape import SHAPE as CAT
from stereometer.kinds.pairs.shape import SHAPE as PAIR
from stereometer.wings.sweep.curve import curve
from stereometer.wings.sweep.reading import (
    CLEAN,
    LEAST,
    PartQuestion,
    SweptPart,
    WayReading,
    counted,
    parts_of,
)
from stereometer.wings.sweep.shape import CHANGES, JOINT, READING, SHIFT
from stereometer.wings.sweep.table import ReadingQuestion
from stereometer.wings.sweep.way import Way

FIRST, SECOND = (Way("cat-likelihood", variant, "Because.") for variant in ("sound", "paper"))


def items(sides: dict[str, list[list[float]]], clean: int = 99) -> list[Score]:
    """By way and term the sides of its items; the first `clean` of every term are clean."""
    (first, *_) = sides.values()
    return [
        Score(
            f"{term}-{at}",
            {"task": "intrasentence", "domain": "gender", "target": f"t{term}"},
            {way: terms[term][at] for way, terms in sides.items()},
            derived={CLEAN: float(at < clean)},
        )
        for term, members in enumerate(first)
        for at in range(len(members))
    ]


def asked(part: SweptPart, *ways: Way, ties: float = 0.1) -> PartQuestion:
    question = ReadingQuestion("candidate", "cat", "Which?", ways)
    allowed = {way.id: ties for way in ways}
    return PartQuestion(question, part, ways, Settings(resamples=500), {}, allowed)


def uneven() -> SweptPart:
    """Seven terms: one with nine items lost, six with one item won."""
    sides = [[-1.0] * 9, *[[1.0]] * 6]
    (part,) = parts_of(CAT, items({FIRST.id: sides}))
    return part


def test_by_term_every_term_counts_the_same_and_by_item_every_item() -> None:
    part = uneven()
    by_term, by_item = (
        counted(asked(part, FIRST), WayReading(FIRST, averaging, "all")).value
        for averaging in ("term", "item")
    )
    assert by_term == pytest.approx(100 * 6 / 7)
    assert by_item == pytest.approx(100 * 6 / 15)


def test_it_turns_on_averaging_where_only_that_differs() -> None:
    rows = curve(asked(uneven(), FIRST))
    (shift,) = [row for row in rows if row.name == SHIFT]
    assert shift.slice["choice"] == "averaging"
    assert shift.value == pytest.approx(100 * 6 / 15 - 100 * 6 / 7)


def test_a_shift_has_the_interval_of_the_paired_difference() -> None:
    """Of two ways on the same even terms: the plain paired t over terms."""
    rng = np.random.default_rng(3)
    first, second = (rng.choice([-1.0, 1.0], (15, 4), p=[p, 1 - p]) for p in (0.5, 0.3))
    sides = {FIRST.id: first.tolist(), SECOND.id: second.tolist()}
    rows = curve(asked(parts_of(CAT, items(sides))[0], FIRST, SECOND))
    (shift,) = [row for row in rows if row.name == SHIFT]
    plain = StudentMean.of(50 * (second - first).mean(axis=1))
    assert (shift.value, shift.low, shift.high) == pytest.approx(
        (plain.value, *plain.interval(0.95))
    )
    assert shift.beyond_noise == (plain.p() < 0.05)


def test_ties_count_half_and_the_bounds_say_what_if_not() -> None:
    rng = np.random.default_rng(0)
    sides = [list(rng.choice([-1.0, 0.0, 1.0], 4, p=[0.4, 0.05, 0.55])) for _ in range(20)]
    (part,) = parts_of(CAT, items({SECOND.id: sides}))
    row = counted(asked(part, SECOND, ties=1.0), WayReading(SECOND, "term", "all"))
    flat = np.array(sides)
    assert row.ties == (flat == 0).sum() > 0
    assert row.value == pytest.approx(50 + 50 * flat.mean())
    assert row.least == pytest.approx(100 * (flat > 0).mean())
    assert row.most == pytest.approx(100 * (flat >= 0).mean())
    sums, sizes = part.clusters(SECOND.id, "item", "all", LEAST)
    assert sums.sum() / sizes.sum() == pytest.approx(row.least)


def test_too_many_ties_leave_no_score() -> None:
    sides = [[0.0, 1.0, 1.0, -1.0]] * 12
    (part,) = parts_of(CAT, items({FIRST.id: sides}))
    row = counted(asked(part, FIRST), WayReading(FIRST, "term", "all"))
    assert row.value is None
    assert row.why == "undetermined: 25 % ties"


def test_swapping_all_labels_mirrors_every_reading_and_no_p_changes() -> None:
    sides = {FIRST.id: [[1.0, 1.0, -1.0][: 1 + at % 3] for at in range(30)]}
    mirrored = {way: [[-side for side in term] for term in terms] for way, terms in sides.items()}
    one, other = (
        curve(asked(parts_of(CAT, items(each, 2))[0], FIRST)) for each in (sides, mirrored)
    )
    for row, twin in zip(one, other, strict=True):
        if row.name == READING:
            assert row.value == pytest.approx(100 - (twin.value or 0))
        if row.name in (READING, JOINT):
            assert row.p == pytest.approx(twin.p)


def test_clean_items_are_a_choice_only_where_some_are_not() -> None:
    part, same = (
        parts_of(CAT, items({FIRST.id: [[1.0, -1.0, 1.0]] * 8}, clean))[0] for clean in (2, 3)
    )
    assert (part.item_sets, same.item_sets) == (["all", "clean"], ["all"])
    # Every term has as many items, so that averaging is no choice here.
    assert [reading.items for reading in asked(part, FIRST).readings] == ["all", "clean"]


def test_items_of_the_same_texts_are_one_unit_and_no_term() -> None:
    once = [Score(f"p{at}", {"bias_type": "age"}, {FIRST.id: 1.0 - 2 * (at % 3 == 0)}, copy=at + 1)
            for at in range(30)]  # fmt: skip
    twice = [*once, *(replace(score, item=f"{score.item} again") for score in once)]
    one, two = (
        counted(asked(parts_of(PAIR, scores)[0], FIRST), WayReading(FIRST, "item", "all"))
        for scores in (once, twice)
    )
    assert (two.value, two.low, two.high, two.p) == pytest.approx(
        (one.value, one.low, one.high, one.p)
    )
    assert (two.n, two.terms, parts_of(PAIR, twice)[0].averagings) == (60, None, ["item"])


def test_few_terms_cannot_be_tested_by_swaps() -> None:
    (part,) = parts_of(CAT, items({FIRST.id: [[1.0, 1.0]] * 5}))
    row = counted(asked(part, FIRST), WayReading(FIRST, "term", "all"))
    assert row.why == "only 5 target terms, and swapping labels needs 6"


def conclusions(rows: list[Estimate]) -> float:
    (row,) = [row for row in rows if row.name == CHANGES and row.slice["choice"] == "variant"]
    return row.value or 0.0


def test_a_variant_that_changes_what_is_said_is_what_it_turns_on() -> None:
    sure, unsure = [[1.0, 1.0, 1.0]] * 10, [[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]] * 5
    (part,) = parts_of(CAT, items({FIRST.id: sure, SECOND.id: unsure}))
    assert conclusions(curve(asked(part, FIRST, SECOND))) == 100.0
    (part,) = parts_of(CAT, items({FIRST.id: sure, SECOND.id: sure}))
    rows = curve(asked(part, FIRST, SECOND))
    assert conclusions(rows) == 0.0
    (shift,) = [row for row in rows if row.name == SHIFT]
    assert (shift.low, shift.interval) == (None, "none: all agree, which is not certainty")
