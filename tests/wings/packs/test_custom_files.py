"""A user's own CATs and pairs: the documented columns, and errors that name the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import DataError
from stereometer.kinds.cats.items import Cat
from stereometer.kinds.pairs.items import Pair
from tests.builders.little import intra, stereoset_file
from tests.builders.sure import all_of

CAT = {
    "task": "intrasentence",
    "target": "cook",
    "domain": "profession",
    "context": "The cook is BLANK.",
    "stereotype": "loud",
    "anti_stereotype": "calm",
    "unrelated": "square",
}
ACROSS = CAT | {
    "task": "intersentence",
    "context": "He cooks.",
    "stereotype": "He shouts.",
    "anti_stereotype": "He hums.",
    "unrelated": "It rains.",
}
PAIR = {"sent_more": "Old men sing.", "sent_less": "Young men sing.", "bias_type": "age"}
Row = dict[str, Any]


def csv_file(path: Path, rows: list[Row], mark: str = ",") -> Path:
    names = list(rows[0])
    path.write_text(
        "\n".join(
            [
                mark.join(names),
                *(mark.join(str(row.get(name, "")) for name in names) for row in rows),
            ]
        )
        + "\n"
    )
    return path


def jsonl_file(path: Path, rows: list[Row], mark: str = "") -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


WRITERS = pytest.mark.parametrize(
    ("write", "name"), [(csv_file, "own.csv"), (jsonl_file, "own.jsonl")]
)


@WRITERS
def test_cats_are_told_by_their_columns(tmp_path: Path, write: Any, name: str) -> None:
    benchmark = stereometer.open_benchmark(str(write(tmp_path / name, [CAT, ACROSS])))
    within, across = all_of(Cat, benchmark.items("cat"))
    assert within.texts == {
        "context": "The cook is BLANK.",
        "stereotype": "The cook is loud.",
        "anti-stereotype": "The cook is calm.",
        "unrelated": "The cook is square.",
    }
    assert across.texts["stereotype"] == "He shouts."
    assert within.filler("unrelated") == "square"


@WRITERS
def test_pairs_are_told_by_their_columns(tmp_path: Path, write: Any, name: str) -> None:
    rows = [
        PAIR | {"id": "x", "stereo_antistereo": "antistereo", "note": "why"},
        PAIR | {"id": "y", "stereo_antistereo": ""},
    ]
    benchmark = stereometer.open_benchmark(str(write(tmp_path / name, rows)))
    first, second = all_of(Pair, benchmark.items("pair"))
    assert (first.id, first.direction, first.note, first.bias_type) == (
        "x",
        "antistereo",
        "why",
        "age",
    )
    assert second.direction is None


@pytest.mark.parametrize("mark", [";", "\t"])
def test_semicolons_and_tabs_are_read(tmp_path: Path, mark: str) -> None:
    assert (
        len(
            stereometer.open_benchmark(str(csv_file(tmp_path / "own.csv", [PAIR], mark))).items(
                "pair"
            )
        )
        == 1
    )


def test_a_file_in_the_form_of_dev_json_is_read(tmp_path: Path) -> None:
    assert (
        len(
            stereometer.open_benchmark(
                str(stereoset_file(tmp_path / "own.json", [intra("a")]))
            ).items("cat")
        )
        == 1
    )


def test_it_may_be_named_as_data_of_custom(tmp_path: Path) -> None:
    found = stereometer.open_benchmark("custom", csv_file(tmp_path / "own.csv", [PAIR]))
    assert (found.name, found.as_released, found.notes) == ("custom", False, ())


@WRITERS
def test_without_an_id_an_item_goes_by_its_line(tmp_path: Path, write: Any, name: str) -> None:
    found = stereometer.open_benchmark(
        str(write(tmp_path / name, [PAIR, PAIR | {"sent_more": "Tall men sing."}]))
    ).items("pair")
    first = 2 if name.endswith("csv") else 1
    assert [pair.id for pair in found] == [str(first), str(first + 1)]


def test_a_number_is_an_id(tmp_path: Path) -> None:
    found = stereometer.open_benchmark(
        str(jsonl_file(tmp_path / "own.jsonl", [PAIR | {"id": 5}, PAIR | {"id": 6}]))
    ).items("pair")
    assert [pair.id for pair in found] == ["5", "6"]


def test_zero_is_an_id(tmp_path: Path) -> None:
    found = stereometer.open_benchmark(
        str(jsonl_file(tmp_path / "own.jsonl", [PAIR | {"id": 0}, PAIR | {"id": 1}]))
    ).items("pair")
    assert [pair.id for pair in found] == ["0", "1"]


@WRITERS
@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [CAT, CAT | {"task": "other"}],
            "task is 'other'. It must be one of intrasentence, intersentence",
        ),
        ([CAT, CAT | {"context": "No gap."}], "the context has no BLANK"),
        (
            [CAT, CAT | {"unrelated": "  "}],
            "unrelated is '  '. It must be a text that is not empty",
        ),
        ([CAT, CAT | {"target": ""}], "target is ''"),
        ([PAIR, PAIR | {"sent_less": ""}], "sent_less is ''"),
        (
            [PAIR | {"stereo_antistereo": "stereo"}, PAIR | {"stereo_antistereo": "up"}],
            "stereo_antistereo is 'up'",
        ),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_line(
    tmp_path: Path, write: Any, name: str, rows: list[Row], says: str
) -> None:
    path = write(tmp_path / name, rows)
    line = 3 if name.endswith("csv") else 2
    with pytest.raises(DataError) as error:
        stereometer.open_benchmark(str(path))
    assert f"{path}, line {line}: {says}" in str(error.value)


@pytest.mark.parametrize("value", [None, 3, True, ["a"], {"a": 1}])
def test_a_text_must_be_a_text(tmp_path: Path, value: object) -> None:
    with pytest.raises(DataError, match="line 2: sent_more is"):
        stereometer.open_benchmark(
            str(jsonl_file(tmp_path / "own.jsonl", [PAIR, PAIR | {"sent_more": value}]))
        )


def test_a_line_that_lacks_a_column_of_the_first_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2: bias_type is None"):
        stereometer.open_benchmark(
            str(
                jsonl_file(tmp_path / "own.jsonl", [PAIR, {"sent_more": "a b", "sent_less": "c b"}])
            )
        )


@WRITERS
def test_ids_that_stand_twice_are_named(tmp_path: Path, write: Any, name: str) -> None:
    for row in (PAIR, CAT):
        with pytest.raises(DataError, match="id 'x' occurs twice"):
            stereometer.open_benchmark(
                str(write(tmp_path / name, [row | {"id": "x"}, row | {"id": "x"}]))
            )


@WRITERS
def test_other_columns_are_named_with_those_needed(tmp_path: Path, write: Any, name: str) -> None:
    with pytest.raises(
        DataError,
        match=(
            r"has the columns prompt, answer. CATs need task, .*; pairs need sent_more, sent_less,"
            r" bias_type"
        ),
    ):
        stereometer.open_benchmark(str(write(tmp_path / name, [{"prompt": "a", "answer": "b"}])))


def test_a_header_without_rows_is_said(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(",".join(PAIR) + "\n")
    with pytest.raises(DataError, match="has no rows"):
        stereometer.open_benchmark(str(tmp_path / "own.csv"))


def test_a_folder_is_no_file_of_items(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        stereometer.open_benchmark(str(tmp_path))


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="was not found"):
        stereometer.open_benchmark(str(tmp_path / "missing.csv"))


def test_two_copies_of_the_same_items_have_the_same_digest(tmp_path: Path) -> None:
    rows = [PAIR | {"id": "x"}, PAIR | {"id": "y"}]
    found: list[Benchmark] = [
        stereometer.open_benchmark(str(csv_file(tmp_path / "a.csv", rows))),
        stereometer.open_benchmark(str(csv_file(tmp_path / "b.csv", rows[::-1], ";"))),
        stereometer.open_benchmark(str(jsonl_file(tmp_path / "c.jsonl", rows))),
    ]
    assert len({one.digest for one in found}) == 1
