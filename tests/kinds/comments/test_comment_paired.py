"""Two systems, or two settings, on the same comments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from stereometer.core.compare import compared
from stereometer.core.errors import UsageError
from stereometer.core.shapes.differences import Difference
from stereometer.core.types import Score, Settings
from stereometer.kinds.comments import shape
from stereometer.kinds.comments.answers import confusion_by_set

QUICK = Settings(resamples=400)


def single(comment: str, of: bool, said: Sequence[bool], category: str = "sexist") -> Score:
    gold = category if of else f"not-{category}"
    slices = {"comment": comment, "gold": gold, "category": category}
    answers = tuple({"text": "", "label": category if yes else f"not-{category}"} for yes in said)
    return Score(f"{comment}:{category}", slices, {}, answers=answers)


def mixed(comment: str, gold: str, number: str, label: str) -> Score:
    slices = {"comment": comment, "gold": gold, "example_set": number}
    answers = ({"text": label, "label": label},)
    return Score(f"{comment}:set-{number}", slices, {}, answers=answers)


def drawn(rng: np.random.Generator, right: float, comments: int = 60) -> list[Score]:
    return [
        single(f"c{at}", at % 2 == 0, [(at % 2 == 0) == hit for hit in rng.random(3) < right])
        for at in range(comments)
    ]


def overall(first: list[Score], second: list[Score]) -> dict[str, Difference]:
    (pair,) = compared(("a", "b"), (first, second), shape.SHAPE, QUICK, all_pairs=False)
    return {row.name: row for row in pair.differences if not row.slice}


def test_a_better_system_is_told_from_a_worse_one() -> None:
    rng = np.random.default_rng(0)
    first, second = drawn(rng, 0.55), drawn(rng, 0.9)
    rows = overall(first, second)
    right = np.mean(
        [(answer["label"] == score.slices["gold"]) for score in second for answer in score.answers]
    )
    assert rows["accuracy"].second == pytest.approx(100 * float(right))
    assert rows["accuracy"].verdict == "higher"
    assert rows["accuracy"].low > 0
    turned = overall(second, first)["accuracy"]
    assert turned.difference == pytest.approx(-rows["accuracy"].difference)
    assert turned.p == rows["accuracy"].p


@pytest.mark.long
def test_systems_alike_are_told_apart_as_often_as_the_level_says() -> None:
    """200 pairs of systems that are right as often: size 5 % within its own noise, coverage too."""
    rng = np.random.default_rng(1)
    rows = [overall(drawn(rng, 0.7), drawn(rng, 0.7))["accuracy"] for _ in range(200)]
    assert np.mean([row.p < 0.05 for row in rows]) <= 0.09
    assert np.mean([row.low <= 0 <= row.high for row in rows]) >= 0.90


def test_settings_are_paired_on_the_comments_that_they_share() -> None:
    ones = [single(f"c{at}", at < 2, [at < 2, at < 2]) for at in range(4)]
    many = [
        mixed(f"c{at}", "sexist" if at < 2 else "neither", number, "neither")
        for at in range(3)
        for number in ("1", "2")
    ]
    (pair,) = compared(("one", "many"), (ones, many), shape.SHAPE, QUICK, all_pairs=False)
    assert (pair.items, pair.asked) == (3, 3)
    rows = {row.name: row for row in pair.differences if not row.slice}
    assert (rows["recall"].first, rows["recall"].second) == (100.0, 0.0)
    assert not pair.flips


def test_misspelt_copies_are_not_compared() -> None:
    score = single("c1", True, [True])
    copy = Score("c1:x", {**score.slices, "edit": "a>b"}, {}, answers=score.answers)
    with pytest.raises(UsageError, match="against its own"):
        shape.SHAPE.units([score, copy], "sound")


def test_confusion_is_counted_by_example_set() -> None:
    scores = [
        mixed("a", "sexist", "1", "sexist"),
        mixed("b", "neither", "1", "sexist"),
        mixed("a", "sexist", "2", "neither"),
        mixed("b", "neither", "2", "neither"),
    ]
    rows = [list(row.values()) for row in confusion_by_set(scores, "paper")]
    assert rows == [
        ["sexist", "1", 0, 1, 0, 1],
        ["sexist", "2", 1, 0, 1, 0],
        ["sexist", "all", 1, 1, 1, 1],
    ]
