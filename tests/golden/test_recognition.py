"""Chiu, Collins, Alexander (2021): the sample, the tables and the two slips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Protocol

import numpy as np
import pytest

from stereometer.core.benchmarks.published import Conditions, values, with_published
from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import Estimate, Score, Settings, Variant
from stereometer.kinds.comments import metrics
from stereometer.kinds.comments.benchmarks import WORDS
from stereometer.kinds.comments.items import (
    FEW_SHOT_MIXED,
    FEW_SHOT_SINGLE,
    MISSPELLING,
    ONE_SHOT,
    ZERO_SHOT,
    Comment,
    Setting,
)
from stereometer.kinds.comments.recognition.misspelling import shipped_edits
from stereometer.kinds.comments.recognition.questions import Question, Sampling, pool, questions
from tests.builders.sure import all_of, bounds, sure
from tests.conftest import released

pytestmark = pytest.mark.golden
PAPER = Settings("paper", resamples=200)


class Ask(Protocol):
    def __call__(self, setting: Setting, variant: Variant = "paper") -> Sequence[Question]: ...


def released_comments() -> list[Comment]:
    folder = released("ethos/Ethos_Dataset_Binary.csv").parent
    return all_of(Comment, open_benchmark("ethos", folder).items("comment"))


@pytest.fixture
def asked() -> Ask:
    comments = released_comments()

    def ask(setting: Setting, variant: Variant = "paper") -> Sequence[Question]:
        return questions(setting, comments, Sampling(variant, words=WORDS), shipped_edits())

    return ask


def test_the_file_has_the_counts_that_the_study_reports() -> None:
    benchmark = open_benchmark("ethos", released("ethos/Ethos_Dataset_Binary.csv").parent)
    assert benchmark.as_released
    comments = all_of(Comment, benchmark.items("comment"))
    assert len(comments) == 998
    assert sum(sure(one.hate) >= 0.5 for one in comments) == 433
    found = pool(comments, Sampling("paper", words=WORDS))
    assert len(found.categories["racist"]) == 76
    assert len(found.categories["sexist"]) == 86  # 84 in the study, whose copy was damaged
    assert len(found.neither) == 354
    alone = pool(comments, Sampling("sound", words=WORDS)).categories
    assert (len(alone["racist"]), len(alone["sexist"])) == (73, 83)  # without the three of both


def test_the_paper_sample_is_the_first_comments_with_their_overlap(asked: Ask) -> None:
    found = asked(ZERO_SHOT)
    assert len(found) == 120
    assert (
        len({one.comment.id for one in found}) == 90
    )  # the same 30 that are neither serve both categories
    one_shot = asked(ONE_SHOT)
    sexist = [one.comment for one in pool_of()["sexist"]]
    assert one_shot[0].comment.id == sexist[0].id
    assert [one.examples[0].comment.id for one in one_shot[:30]] == [
        one.id for one in sexist[30:60]
    ]
    single = asked(FEW_SHOT_SINGLE)
    assert [one.examples[2].comment.id for one in single[:30]] == [one.id for one in sexist[50:80]]
    assert [example.label for example in single[0].examples] == ["sexist", "not-sexist", "sexist"]


def pool_of() -> Mapping[str, Sequence[Question]]:
    """Every sexist comment, in the order of the mixed setting's tenth set and its examples."""
    found = pool(released_comments(), Sampling("paper", words=WORDS))
    return {
        name: [Question(one, name, ()) for one in some] for name, some in found.categories.items()
    }


def test_the_mixed_sample_is_ten_sets_of_240_and_243_comments(asked: Ask) -> None:
    found = asked(FEW_SHOT_MIXED)
    assert len(found) == 2400
    assert len({(one.comment.id, one.gold) for one in found}) == 243
    for number in range(1, 11):
        some = [one for one in found if one.example_set == str(number)]
        assert [
            sum(one.gold == gold for one in some) for gold in ("sexist", "racist", "neither")
        ] == [60, 60, 120]
        assert not {one.comment.id for one in some if one.gold == "sexist"} & {
            some[0].examples[0].comment.id
        }


@pytest.mark.parametrize("setting", [ZERO_SHOT, ONE_SHOT, FEW_SHOT_SINGLE, FEW_SHOT_MIXED])
def test_the_sound_sample_asks_about_no_comment_twice_and_shows_none_that_it_asks_about(
    asked: Ask, setting: Setting
) -> None:
    found = asked(setting, "sound")
    for number in {one.example_set for one in found}:
        some = [one for one in found if one.example_set == number]
        ids = [one.comment.id for one in some]
        assert len(set(ids)) == len(ids)
        assert not set(ids) & {example.comment.id for one in some for example in one.examples}
    golds = [one.gold for one in found]
    if not setting.mixed:
        assert {gold: golds.count(gold) for gold in set(golds)} == {
            "sexist": 30,
            "not-sexist": 30,
            "racist": 30,
            "not-racist": 30,
        }


def test_the_misspelling_test_takes_27_racist_comments(asked: Ask) -> None:
    found = [one for one in asked(MISSPELLING) if not one.edit]
    assert sum(one.category == "racist" for one in found) == 27
    assert (
        sum(one.category == "sexist" for one in found) == 35
    )  # 34 of the 84 that the study's damaged copy had


# ------------------------------------------------------------------------------- tables from counts

ZERO_SHOT_COUNTS = {"racist": (1775, 1295, 1688, 1209), "sexist": (2308, 2072, 923, 619)}
"""Tables 9 and 10: true positives, false positives, true negatives, false negatives over 100
repeats."""


def test_pooled_counts_give_the_accuracies_of_table_1() -> None:
    printed = {"racist": 58, "sexist": 55}
    for name, counts in ZERO_SHOT_COUNTS.items():
        assert (
            round(float(metrics.rates(np.array(counts, dtype=float))["accuracy"])) == printed[name]
        )
    both = np.array(list(ZERO_SHOT_COUNTS.values()), dtype=float).sum(axis=0)
    assert round(float(metrics.rates(both)["accuracy"])) == 56
    assert round(float(metrics.rates(both)["f1"]), 1) == pytest.approx(61.1, abs=0.05)


@pytest.mark.parametrize(
    ("precision", "recall", "sexist_recall", "printed"),
    [(54.84, 69.07, 78.84, 70), (55, 60, 58, 55), (67, 68, 62, 62)],
)
def test_the_slip_in_the_overall_f1(
    precision: float, recall: float, sexist_recall: float, printed: int
) -> None:
    """Tables 1 to 3: 70, 55 and 62 are what the formula with the slip gives from the values beside
    them."""
    values = (np.array([value]) for value in (precision, recall, sexist_recall))
    assert float(metrics.slipped_f1(*values)[0]) == pytest.approx(printed, abs=0.6)


Row = tuple[int, int, int, int]
MIXED: dict[int, tuple[Row, Row]] = {
    # Tables 18 and 19: (racism TN, FP, FN, TP), (sexism TN, FP, FN, TP) of each example set without
    # instruction.
    1: ((107, 13, 5, 55), (113, 7, 19, 41)),
    2: ((102, 18, 9, 51), (110, 10, 14, 46)),
    3: ((99, 21, 4, 56), (110, 10, 14, 46)),
    4: ((90, 30, 0, 60), (105, 15, 12, 48)),
    5: ((92, 28, 3, 57), (106, 14, 10, 50)),
    6: ((94, 26, 2, 58), (103, 17, 12, 48)),
    7: ((84, 36, 1, 59), (110, 10, 14, 46)),
    8: ((71, 49, 2, 58), (100, 20, 11, 49)),
    9: ((83, 37, 3, 57), (87, 33, 11, 49)),
    10: ((108, 12, 5, 55), (106, 14, 10, 50)),
}
INSTRUCTED: dict[int, tuple[Row, Row]] = {
    # Tables 20 and 21: the same with instruction.
    1: ((98, 22, 7, 53), (108, 12, 22, 38)),
    2: ((107, 13, 21, 39), (112, 8, 28, 32)),
    3: ((95, 25, 11, 49), (116, 4, 30, 30)),
    4: ((105, 15, 11, 49), (112, 8, 28, 32)),
    5: ((108, 12, 21, 39), (116, 4, 38, 22)),
    6: ((113, 7, 21, 39), (116, 4, 48, 12)),
    7: ((110, 10, 11, 49), (111, 9, 29, 31)),
    8: ((84, 36, 4, 56), (114, 6, 25, 35)),
    9: ((98, 22, 8, 52), (116, 4, 37, 23)),
    10: ((71, 49, 1, 59), (109, 11, 15, 45)),
}


def mixed_scores(counts: Mapping[int, tuple[Row, Row]]) -> list[Score]:
    """Answers that give the counts of the tables; no comment that is neither is called both."""
    found = []
    for number, (racist, sexist) in counts.items():
        for gold, (_, _, missed, hit) in (("racist", racist), ("sexist", sexist)):
            answers = ["neither"] * missed + [gold] * hit
            found += [
                said(f"{gold}-{at}", gold, answer, number) for at, answer in enumerate(answers)
            ]
        called = ["sexist"] * sexist[1] + [""] * sexist[0]
        other = [""] * racist[0] + ["racist"] * racist[1]
        for at, words in enumerate(zip(called, other, strict=True)):
            found.append(
                said(
                    f"neither-{at}",
                    "neither",
                    ", ".join(word for word in words if word) or "neither",
                    number,
                )
            )
    return found


def said(comment: str, gold: str, label: str, number: int) -> Score:
    slices = {"comment": comment, "gold": gold, "example_set": str(number)}
    return Score(f"{comment}:{number}", slices, {}, answers=({"text": label, "label": label},))


def of(estimates: Sequence[Estimate], name: str, **fixed: str) -> float:
    (one,) = [one for one in estimates if one.name == name and dict(one.slice) == fixed]
    assert one.value is not None
    return one.value


@pytest.mark.parametrize(
    ("measure", "counts"),
    [("recognition-few-shot-mixed", MIXED), ("recognition-few-shot-mixed-instruction", INSTRUCTED)],
)
def test_tables_4_and_7_come_out_of_the_counts_in_the_appendix(
    measure: str, counts: Mapping[int, tuple[Row, Row]]
) -> None:
    estimates = metrics.summarize(mixed_scores(counts), PAPER)
    printed = [value for value in values() if value.measure == measure]
    assert len(printed) == 4 * 2 * 11
    for value in printed:
        ours = of(estimates, value.name, **value.slice)
        assert ours == pytest.approx(value.value, abs=0.5001), value
    assert {
        one.asked for one in estimates if one.slice.get("category") and "example_set" in one.slice
    } == {180}


def test_with_instruction_71_per_cent_of_the_answers_match() -> None:
    """Figure 1. The 65 without it cannot be had from the tables, which count an answer of several
    words for each of them."""
    assert round(of(metrics.summarize(mixed_scores(INSTRUCTED), PAPER), "matches")) == 71


def test_published_values_stand_beside_ours() -> None:
    data = open_benchmark("ethos", released("ethos/Ethos_Dataset_Binary.csv").parent).digest
    asked = {"repeats": 1, "temperature": 0.3}
    measured = Conditions(data, "gpt-3", "recognition-few-shot-mixed@1", "paper", asked)
    estimates = with_published(metrics.summarize(mixed_scores(MIXED), PAPER), measured)
    assert sum(estimate.published is not None for estimate in estimates) == 88


def test_the_slip_and_the_deviation_are_in_paper_alone() -> None:
    answers = {"sexist": (4, 1), "racist": (2, 3)}
    scores = []
    for category, (hits, false) in answers.items():
        for gold, count in ((category, hits), (f"not-{category}", false)):
            for at in range(5):
                labels = islice(cycle([category if at < count else f"not-{category}", category]), 4)
                slices = {"comment": f"{gold}-{at}", "gold": gold, "category": category}
                scores.append(
                    Score(
                        f"{gold}-{at}",
                        slices,
                        {},
                        answers=tuple({"text": label, "label": label} for label in labels),
                    )
                )
    paper, sound = (
        metrics.summarize(scores, Settings(variant, resamples=200))
        for variant in ("paper", "sound")
    )
    assert of(paper, "f1") != pytest.approx(of(sound, "f1"))
    assert of(paper, "f1_harmonic") == pytest.approx(of(sound, "f1"))
    (slipped,) = [one for one in paper if one.name == "f1" and not one.slice]
    low, value, high = bounds(slipped)
    assert low <= value <= high
    assert {one.name for one in paper} - {one.name for one in sound} == {
        "f1_harmonic",
        "accuracy_sd",
        "precision_sd",
        "recall_sd",
        "f1_sd",
    }
