"""Chiu, Collins, Alexander (2021): confusion by example set, and what misspelling turned round."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import Score
from stereometer.kinds.comments.answers import confusion_by_set
from stereometer.kinds.comments.benchmarks import WORDS
from stereometer.kinds.comments.items import FEW_SHOT_MIXED, MISSPELLING, Comment, Setting
from stereometer.kinds.comments.recognition.method import scored
from stereometer.kinds.comments.recognition.misspelling import shipped_edits
from stereometer.kinds.comments.recognition.questions import Question, Sampling, questions
from tests.builders.commands import call
from tests.conftest import released

pytestmark = pytest.mark.golden

TABLE_18 = """107 13 5 55; 102 18 9 51; 99 21 4 56; 90 30 0 60; 92 28 3 57; 94 26 2 58; 84 36 1 59;
71 49 2 58; 83 37 3 57; 108 12 5 55"""
"""Of each example set: not racist and not called so, called so; racist and not called so, called
so."""
ALL_SETS = [930, 270, 34, 566]
"""The table's last row."""
TABLE_23 = {
    "lost": [["fuck>fck", "fuck>phuck"], ["fuck>phuck"], ["nigg>n*gg"], ["fuck>fck", "fuck>f*ck"]],
    "gained": [["fuck>phuck"], ["kill>k-ll"]],
}
"""The edits that turned each of the six comments round, all of them racist."""


def study(setting: Setting) -> list[Question]:
    folder = released("ethos/Ethos_Dataset_Binary.csv").parent
    comments = cast("Sequence[Comment]", open_benchmark("ethos", folder).items("comment"))
    return questions(setting, comments, Sampling("paper", words=WORDS), shipped_edits())


def answered(every: list[Question]) -> Iterator[Score]:
    """As the table says: of each kind the first ones are called racist."""
    counts = [list(map(int, row.split())) for row in TABLE_18.split(";")]
    for number, (_, wrongly, _, rightly) in enumerate(counts, 1):
        left = {"neither": wrongly, "racist": rightly, "sexist": 0}
        for question in every:
            if question.example_set == str(number):
                left[question.gold] -= 1
                label = "racist" if left[question.gold] >= 0 else "neither"
                yield scored(question, [{"text": label, "label": label}])


def test_the_confusion_of_each_example_set_adds_up_to_the_printed_one() -> None:
    rows = confusion_by_set(answered(study(FEW_SHOT_MIXED)), "paper")
    racist = [list(row.values())[2:] for row in rows if row["category"] == "racist"]
    assert racist == [*(list(map(int, row.split())) for row in TABLE_18.split(";")), ALL_SETS]


def test_the_six_comments_of_table_23_are_counted_from_answers(tmp_path: Path) -> None:
    copies: dict[tuple[str, str], dict[str, Question]] = {}
    for question in study(MISSPELLING):
        place = question.category, question.comment.id
        copies.setdefault(place, {})[question.edit] = question
    turned = [(way, edits) for way, each in TABLE_23.items() for edits in each]
    path = tmp_path / "answers.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["category", "label", "comment", "answer", "status", "original"])
        for (category, id_), edits in copies.items():
            fits = (case for case in turned if category == "racist" and {*case[1]} <= {*edits})
            way, flips = next(fits, ("", []))
            if way:
                turned.remove((way, flips))
            before = way != "gained"
            for edit, question in edits.items():
                says = "Yes" if before != (edit in flips) else "No"
                status = "edited" if edit else "unedited"
                table.writerow([category, category, question.shown, says, status, id_])
    assert not turned
    asked = ("--benchmark", "ethos", "--setting", "misspelling", "--variant", "paper")
    said = call("replay", path, *asked, "--out", tmp_path / "out", "--json")
    assert said.code == 0, said.err
    rows = {row["slice"].get("category"): row for row in said.json["results"][0]["estimates"]}
    # One of the 27 spells its word in a way that no edit changes.
    assert (rows["racist"]["n"], rows["racist"]["asked"]) == (26, 27)
    assert rows["racist"]["value"] == pytest.approx(100 * 6 / 26)
    assert rows["sexist"]["value"] == 0
    flips = said.json["said"][0]["flipped"]
    assert len({row["comment"] for row in flips}) == 6
    assert {row["category"] for row in flips} == {"racist"}
    lost = {row["comment"] for row in flips if row["was"] == "racist"}
    assert len(lost) == 4
