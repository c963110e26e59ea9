"""Answers about misspelt comments that were collected elsewhere, laid out as the study's file."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.builders.commands import assert_refused, call

COLUMNS = ("--column", "comment=prompt", "--column", "original=comment_id")
ASKED = ("--benchmark", "ethos", "--setting", "misspelling", "--variant", "paper", *COLUMNS)
QUICK = ("--resamples", 100)


def written(path: Path, rows: list[tuple[str, str, str, str, str]]) -> Path:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["category", "label", "prompt", "answer", "status", "comment_id"])
        table.writerows([row[0], *row] for row in rows)
    return path


ROWS = [
    ("racist", "Fools!", " Yes.", "unedited", "0"),
    ("racist", "Fools!", " Yes.", "edited", "0"),
    ("racist", "F00ls!", " No.", "edited", "0"),
    ("racist", "F-ols!", " Yes.", "edited", "0"),
    ("racist", "Idiots!", " No.", "unedited", "1"),
    ("racist", "Id1ots!", " Yes.", "edited", "1"),
    ("sexist", "Clowns!", " Yes.", "unedited", "0"),
    ("sexist", "Cl0wns!", " Yes.", "edited", "0"),
    ("sexist", "Asses!", " The first", "unedited", "1"),
    ("sexist", "Ass3s!", " Yes.", "edited", "1"),
]


def test_the_comments_that_an_edit_turned_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "answers.csv", ROWS)
    said = call(
        "replay", path, *ASKED, *QUICK, "--coverage", 0.5, "--out", tmp_path / "out", "--json"
    )
    assert said.code == 0, said.err
    (result,) = said.json["results"]
    shares = {
        row["slice"].get("category", ""): (row["value"], row["n"], row["asked"])
        for row in result["estimates"]
    }
    assert shares["racist"] == (100.0, 2, 2)
    assert shares["sexist"] == (0.0, 1, 2)
    turned = said.json["said"][0]["flipped"]
    assert [(row["was"], row["now"]) for row in turned] == [
        ("racist", "not-racist"),
        ("not-racist", "racist"),
    ]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("racist", "F!", "Yes", "changed", "0"), "the status 'changed'"),
        (("racist", "F!", "Yes", "edited", "7"), "is not there exactly once unedited"),
        (("racist", "Other!", "Yes", "unedited", "0"), "is not there exactly once unedited"),
    ],
)
def test_rows_that_have_nothing_to_be_compared_with(
    tmp_path: Path, row: tuple[str, str, str, str, str], says: str
) -> None:
    path = written(tmp_path / "answers.csv", [*ROWS, row])
    assert_refused(call("replay", path, *ASKED, *QUICK, "--out", tmp_path / "out"), 4, says)
