"""A question that was asked in several wordings: every way of asking over them, what each choice
moves, and what the readings turn on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from stereometer.core.stats.means import StudentMean
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.pairs.shape import SHAPE as PAIR
from stereometer.wings.sweep.curve import concluded, curve
from stereometer.wings.sweep.reading import CLEAN, PartQuestion, parts_of
from stereometer.wings.sweep.shape import ANOTHER, JOINT, OVER, READING, SHIFT, SPREAD
from stereometer.wings.sweep.table import ReadingQuestion
from stereometer.wings.sweep.way import FORMS, Way

SETTINGS = Settings(resamples=500)
WORDINGS = [str(at) for at in range(1, 7)]
Leaning = Callable[[Way], float]
"""How likely a way of asking prefers a stereotype."""


def ways(forms: Sequence[str] = ("",), rated: bool = False) -> list[Way]:
    choice = Way("pair-graded-choice", "sound", "Because.", asking="compared", answer="words")
    rating = Way("pair-isolated-rating", "sound", "Because.", asking="rated alone", answer="words")
    asked = [choice, *([rating] if rated else [])]
    return [
        Way(**{**vars(way), "wording": wording, "form": form})
        for way in asked
        for form in forms
        for wording in WORDINGS
    ]


def rows(asked: Sequence[Way], leaning: Leaning, pairs: int = 200, seed: int = 1) -> list[Estimate]:
    """Of independent pairs, each answered in every way."""
    rng = np.random.default_rng(seed)
    sides = {way.id: np.where(rng.random(pairs) < leaning(way), 1.0, -1.0) for way in asked}
    scores = [
        Score(f"p{at}", {"type": "age"}, {way: float(of[at]) for way, of in sides.items()},
              derived={CLEAN: float(at % 9 > 0)})
        for at in range(pairs)
    ]  # fmt: skip
    (part,) = parts_of(PAIR, scores)
    question = ReadingQuestion("choice", "pair", "Which?", tuple(asked))
    whole = PartQuestion(question, part, asked, SETTINGS, {}, {way.id: 1.0 for way in asked})
    return concluded(curve(whole), SETTINGS)


def only(found: Sequence[Estimate], name: str, **place: str) -> Estimate:
    (row,) = [
        row
        for row in found
        if row.name == name
        and place.items() <= row.slice.items()
        and (place or len(row.slice) == 2)
    ]
    return row


def test_only_the_asking_is_varied() -> None:
    """All items, one average: 6 readings of 6 ways."""
    found = rows(ways(), lambda way: 0.6)
    readings = [row for row in found if row.name == READING]
    assert [row.slice["wording"] for row in readings] == WORDINGS
    assert {(row.slice["items"], row.n) for row in readings} == {("all", 200)}


def test_over_wordings_is_their_mean_with_the_range_of_them() -> None:
    found = rows(ways(), lambda way: 0.6)
    values = [row.value or 0.0 for row in found if row.name == READING]
    over = only(found, OVER, answer="words")
    assert over.value == pytest.approx(np.mean(values))
    assert (over.least, over.most) == pytest.approx((min(values), max(values)))
    assert (over.n, over.asked) == (6, 6)
    another = only(found, ANOTHER, answer="words")
    assert over.low is not None
    assert another.low is not None
    assert another.low < over.low


def test_wordings_that_do_nothing_turn_on_nothing() -> None:
    joint = only(rows(ways(FORMS, rated=True), lambda way: 0.75), JOINT)
    assert joint.verdict is not None
    assert joint.verdict.startswith("24 of 24 readings prefer stereotypes, joint p = 0.002")
    assert joint.verdict.endswith("it turns on nothing varied, beyond noise")


def test_what_moves_the_values_is_named_with_its_points() -> None:
    def leaning(way: Way) -> float:
        return 0.4 + 0.05 * int(way.wording) + 0.12 * (way.form == FORMS[1])

    found = rows(ways(FORMS), leaning, 400)
    shift, spread = only(found, SHIFT, choice="form"), only(found, SPREAD)
    assert shift.slice["to"] == "chat"
    assert shift.low is not None
    assert shift.high is not None
    assert shift.low < 12 < shift.high
    assert spread.low is not None
    assert spread.high is not None
    assert spread.low < 100 * np.std([0.05 * at for at in range(1, 7)], ddof=1) < spread.high
    verdict = only(found, JOINT).verdict or ""
    assert verdict.index("wording (two of them ") < verdict.index("form (+")
    assert verdict.endswith("points for chat)")


def test_a_shift_has_one_pair_of_ways_or_many() -> None:
    """One: the paired difference, wording by wording."""
    found = rows(ways(FORMS), lambda way: 0.5)
    readings = [row for row in found if row.name == READING]
    raw, chat = (
        np.mean([row.value or 0.0 for row in readings if row.slice["form"] == form])
        for form in FORMS
    )
    shift = only(found, SHIFT, choice="form")
    assert shift.value == pytest.approx(chat - raw)
    assert shift.n == 1
    assert len([row for row in rows(ways(FORMS, rated=True), lambda way: 0.5)
                if row.name == SHIFT]) == 2  # fmt: skip


def test_six_wordings_that_lean_to_one_side_by_chance_are_no_preference() -> None:
    """Items alone would be sure: the wordings are not."""
    leanings = dict(zip(WORDINGS, (0.35, 0.5, 0.5, 0.6, 0.75, 0.8), strict=True))
    found = rows(ways(), lambda way: leanings[way.wording], 400)
    over = only(found, OVER)
    values = np.array([row.value for row in found if row.name == READING])
    alone = StudentMean.of(values)
    assert over.p == pytest.approx(alone.p(50.0), abs=0.02)
    joint = only(found, JOINT)
    assert joint.p is not None
    assert joint.p > 0.05
    assert joint.p == over.p
    assert joint.test is not None
    assert joint.test.endswith("t over items and wordings, the larger p")


def test_too_few_wordings_with_a_score_say_so() -> None:
    asked = ways()
    rng = np.random.default_rng(0)
    scores = [
        Score(f"p{at}", {"type": "age"},
              {way.id: float(rng.choice([-1, 1])) for way in asked[:2]} | {asked[2].id: 0.0},
              derived={CLEAN: 1.0})
        for at in range(50)
    ]  # fmt: skip
    (part,) = parts_of(PAIR, scores)
    question = ReadingQuestion("choice", "pair", "Which?", tuple(asked[:3]))
    whole = PartQuestion(question, part, asked[:3], SETTINGS, {}, {way.id: 0.1 for way in asked})
    found = curve(whole)
    over = only(found, OVER, answer="words")
    assert over.why == "only 2 of 3 wordings have a score: undetermined: 100 % ties"
    assert not [row for row in found if row.name == SPREAD]
