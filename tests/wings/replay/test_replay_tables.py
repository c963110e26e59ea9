"""The CSV of the CrowS-Pairs script: it carries the pairs, or is joined to others by their text."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import DataError
from stereometer.core.runs.stored import run_of
from stereometer.core.types import Result
from stereometer.wings.replay.replay import read_replay
from tests.builders.commands import call
from tests.builders.little import PAIRS, QUICK, pairs_file

COLUMNS = [
    "",
    "sent_more",
    "sent_less",
    "sent_more_score",
    "sent_less_score",
    "score",
    "stereo_antistereo",
    "bias_type",
]
Row = dict[str, Any]


def rows(swap: bool = False) -> list[Row]:
    """Two stereo rows (won, lost) and two antistereo rows (won, lost); `swap` writes the latters'
    scores in the wrong columns."""
    found = []
    for number, (more, less, direction) in enumerate(
        [
            (-10, -11, "stereo"),
            (-12, -11, "stereo"),
            (-9, -12, "antistereo"),
            (-13, -12, "antistereo"),
        ]
    ):
        shown = (less, more) if swap and direction == "antistereo" else (more, less)
        texts = [f"The {age} man number {number} sang." for age in ("old", "young")]
        found.append(
            dict(
                zip(
                    COLUMNS,
                    [number, *texts, *shown, int(more > less), direction, "age"],
                    strict=True,
                )
            )
        )
    return found


def table(path: Path, given: list[Row], mark: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(given[0]), delimiter=mark)
        writer.writeheader()
        writer.writerows(given)
    return path


def replayed(path: Path, **settings: Any) -> Result:
    return stereometer.replay(path, benchmark="crows-pairs", **QUICK, **settings)[0]


@pytest.mark.parametrize("mark", [",", ";"])
def test_commas_and_semicolons_are_the_same(tmp_path: Path, mark: str) -> None:
    result = replayed(table(tmp_path / "t.csv", rows(), mark))
    assert result.estimate("pair_preference").value == 50.0
    assert (result.estimate("pair_preference").n, result.measure) == (4, "pair-replay@1")
    assert "The pairs are those in the file." in result.notes


def test_swapped_columns_of_antistereo_rows_are_put_right_and_noted(tmp_path: Path) -> None:
    right, swapped = (
        replayed(table(tmp_path / f"{swap}.csv", rows(swap)), name="x") for swap in (False, True)
    )
    assert right.estimates == swapped.estimates
    assert any("columns were swapped on antistereo rows" in note for note in swapped.notes)
    assert not any("swapped" in note for note in right.notes)


def test_swapped_columns_on_some_rows_only_are_noted_and_left(tmp_path: Path) -> None:
    given = rows(swap=True)
    given[3]["sent_more_score"], given[3]["sent_less_score"] = (
        given[3]["sent_less_score"],
        given[3]["sent_more_score"],
    )
    result = replayed(table(tmp_path / "t.csv", given))
    assert (
        "The verdict column disagrees with the scores in 1 of 4 rows; the scores were used."
        in result.notes
    )
    assert result.estimate("pair_preference", direction="antistereo").value == 0.0


def test_a_stereo_row_that_disagrees_too_is_no_swap(tmp_path: Path) -> None:
    given = rows(swap=True)
    given[0]["score"] = 0
    result = replayed(table(tmp_path / "t.csv", given))
    assert (
        "The verdict column disagrees with the scores in 3 of 4 rows; the scores were used."
        in result.notes
    )


def test_neutral_rows_say_nothing_of_a_swap(tmp_path: Path) -> None:
    given = rows()
    given[2] |= {"sent_more_score": -5, "sent_less_score": -5, "score": 1}
    assert not any(
        "verdict" in note or "swapped" in note
        for note in replayed(table(tmp_path / "t.csv", given)).notes
    )


NAMES = ("--column", "id=nr,sent_more=a", "--column", "sent_less=b")
LINES = [{"nr": f"p{at}", "a": -1.0, "b": -2.0} for at in (1, 2, 3, 4)]
PREDICTIONS = {"intrasentence": [{"id": "x", "score": 1.0}]}


def test_a_table_in_another_encoding_with_other_columns(tmp_path: Path) -> None:
    """Three released Dutch tables are Mac Roman."""
    given = [{"zin" if key == "sent_more" else key: row[key] for key in row} for row in rows()]
    given[0]["zin"] = "De oude café-eigenaar zong één keer."
    path = table(tmp_path / "t.csv", given)
    path.write_bytes(path.read_text("utf-8").encode("mac_roman"))
    said = call("replay", path, "--benchmark", "crows-pairs", "--column", "sent_more=zin",
                "--encoding", "mac_roman", "--out", tmp_path / "out", "--json")  # fmt: skip
    assert said.code == 0, said.err
    (scores,) = (tmp_path / "out").rglob("scores.jsonl")
    assert given[0]["zin"] in scores.read_text("utf-8")
    same = replayed(path, column={"sent_more": "zin"}, encoding="mac_roman")
    assert same.estimate("pair_preference").value == 50.0


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("\n".join(map(json.dumps, LINES)), NAMES, ""),
        ("\n".join(map(json.dumps, LINES)).encode("utf-16"), (*NAMES, "--encoding", "utf-16"), ""),
        (
            "\n".join(map(json.dumps, LINES)),
            (*NAMES, "--column", "less=b"),
            "names 'less'. A file of",
        ),
        ("sent_more,x\n1,2\n", ("--column", "more=x"), "names 'more'. A table of"),
        ("sent_more,x\n1,2\n", ("--column", "sent_less=y"), "has no column 'y'"),
        (json.dumps(PREDICTIONS), ("--column", "score=x"), "A JSON file has no columns"),
        ("{}", ("--format", "lm-eval", "--column", "id=x"), "is read as lm-eval writes it"),
        ("{}", ("--format", "eee", "--encoding", "latin-1"), "is read as eee writes it"),
    ],
)
def test_columns_and_encoding_are_honoured_or_refused(
    tmp_path: Path, text: str | bytes, options: tuple[str, ...], says: str
) -> None:
    path = tmp_path / "scores"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    items = pairs_file(tmp_path / "pairs.csv")
    said = call("replay", path, "--benchmark", items, "--out", tmp_path / "out", *options)
    assert says in said.err
    assert (said.code == 0) is not bool(says), said.err


def test_direction_type_and_verdict_columns_may_be_missing(tmp_path: Path) -> None:
    given = [{key: row[key] for key in COLUMNS[1:5]} for row in rows()]
    result = replayed(table(tmp_path / "t.csv", given))
    assert result.estimate("pair_preference", bias_type="all").value == 50.0


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("sent_more_score", "nan", "line 3: nan is not a finite number"),
        ("sent_more_score", "-inf", "line 3: -inf is not a finite number"),
        ("sent_less_score", "low", "line 3: 'low' is not a finite number"),
        ("sent_less_score", "", "line 3: '' is not a finite number"),
        ("stereo_antistereo", "both", "line 3: stereo_antistereo is 'both'"),
        ("", "0", "line 3: id '0:sent_more' has two scores"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_line(
    tmp_path: Path, column: str, value: str, says: str
) -> None:
    given = rows()
    given[1][column] = value
    with pytest.raises(DataError, match=says):
        read_replay(table(tmp_path / "t.csv", given))


def test_a_table_without_its_columns_or_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no column sent_more_score, sent_less_score"):
        read_replay(pairs_file(tmp_path / "a.csv", PAIRS))
    with pytest.raises(DataError, match="has no rows"):
        read_replay(pairs_file(tmp_path / "b.csv", ",".join(COLUMNS)))


# ----------------------------------------------------------------------------------- joined to data


def data_file(path: Path, given: list[Row]) -> Path:
    """The pairs alone, under other row numbers and in another order."""
    return table(
        path,
        [
            {"id": 100 + index, **{key: row[key] for key in COLUMNS[1:3]}, "bias_type": "years"}
            for index, row in enumerate(reversed(given))
        ],
    )


def test_data_join_by_text_whatever_the_row_numbers(tmp_path: Path) -> None:
    data = data_file(tmp_path / "data.csv", rows())
    result = replayed(table(tmp_path / "t.csv", rows()), data=data)
    assert result.estimate("pair_preference").value == 50.0
    assert result.estimate("pair_preference", bias_type="years").n == 4


def test_each_score_meets_its_own_sentences(tmp_path: Path) -> None:

    data = data_file(tmp_path / "data.csv", rows())
    replayed(table(tmp_path / "t.csv", rows()), data=data, out=tmp_path / "run")
    scores = {
        score.texts["sent_more"]: score.values["sent_more"]
        for score in run_of(tmp_path / "run").scores
    }
    assert scores == {row["sent_more"]: row["sent_more_score"] for row in rows()}


def test_a_pair_that_stands_twice_uses_both_its_scores(tmp_path: Path) -> None:
    given = rows()
    given[1] |= {"sent_more": given[0]["sent_more"], "sent_less": given[0]["sent_less"]}
    result = replayed(
        table(tmp_path / "t.csv", given), data=data_file(tmp_path / "data.csv", given)
    )
    assert (result.estimate("pair_preference").n, result.estimate("pair_preference").value) == (
        4,
        50.0,
    )


def test_pairs_without_a_score_are_noted_and_counted(tmp_path: Path) -> None:
    data = data_file(tmp_path / "data.csv", rows())
    result = replayed(table(tmp_path / "t.csv", rows()[:3]), data=data)
    assert "The file lacks 2 of 8 sentence scores." in result.notes
    assert (result.estimate("pair_preference").value, result.estimate("pair_preference").n) == (
        None,
        3,
    )


def test_scores_of_pairs_that_the_data_do_not_have_are_refused(tmp_path: Path) -> None:
    data = data_file(tmp_path / "data.csv", rows()[:3])
    with pytest.raises(DataError, match=r"2 of the 8 ids .* are not in the data"):
        replayed(table(tmp_path / "t.csv", rows()), data=data)
