"""Files that are large, endless, packed, deep or written otherwise than ours."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from pathlib import Path

import pytest

from stereometer.core import files
from stereometer.core.errors import LONGEST, DataError, StereometerError, UsageError
from stereometer.core.files import finite, parse_json, read_text
from stereometer.core.tables import Layout, read_table
from stereometer.wings.training import articles
from tests.builders.commands import assert_refused, call
from tests.builders.little import PAIRS, intra

QUICK = ("-m", "fake", "--resamples", 100)
OURS = ("sent_more", "sent_less", "bias_type")


# ------------------------------------------------------------------------------------- what is read


def test_a_file_is_refused_by_its_size_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.touch()
    os.truncate(path, 6 * files.LARGEST)
    with pytest.raises(DataError, match="larger than"):
        read_text(path)


@pytest.mark.parametrize("reader", [read_text, articles.read])
def test_a_bomb_is_counted_and_not_kept(
    tmp_path: Path, reader: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(gzip.compress(b"word " * 8_000_000))
    monkeypatch.setattr(files, "LARGEST", 10_000_000)
    tracemalloc.start()
    with pytest.raises(DataError, match="larger than"):
        reader(path)  # type: ignore[operator]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    with pytest.raises(DataError, match="is a pipe or a device"):
        read_text(path)


def test_a_header_of_commas_is_checked_in_one_pass(tmp_path: Path) -> None:
    path = tmp_path / "commas.csv"
    path.write_text("," * 400_000 + "\n")
    with pytest.raises(DataError, match="the column '' twice"):
        list(read_table(path, []))


def test_a_workbook_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "pairs.xlsx"
    path.write_bytes(b"PK\x03\x04 and more")
    said = call("run", path, *QUICK)
    assert_refused(said, 4, "save it as CSV (UTF-8)")


def test_deep_json_and_long_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="too deeply"):
        parse_json("[" * 100_000 + "]" * 100_000, "text")
    with pytest.raises(DataError, match="a number of 5000 digits"):
        parse_json("9" * 5000, "text")
    path = tmp_path / "deep.jsonl"
    path.write_text('{"text": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(DataError, match="too deeply"):
        articles.read(path)


@pytest.mark.parametrize("value", [-1e308, "1e200", 10**200])
def test_a_number_that_no_sum_can_hold_is_no_score(value: object) -> None:
    with pytest.raises(DataError, match="too large"):
        finite(value, "line 1")


def test_an_error_that_quotes_a_file_stays_short() -> None:
    text = str(StereometerError("Before " + "x" * 600_000 + " after."))
    assert len(text) < LONGEST + 10
    assert text.startswith("Before ")
    assert text.endswith(" after.")


# ------------------------------------------------------------------------------------- what is ours


def test_every_bad_row_is_named_in_one_message(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"{PAIRS}p8,,Young men sing.,stereo,age\np9,Old men.\np10,x,,stereo,age\n")
    said = call("run", path, *QUICK, "--out", tmp_path / "out")
    first = len(PAIRS.splitlines()) + 1
    assert_refused(said, 4, "3 rows that cannot be used")
    for line in range(first, first + 3):
        assert f"line {line}" in said.err


def test_many_bad_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    row = json.dumps({"sent_more": "", "sent_less": "Young men.", "bias_type": "age"})
    path.write_text(f"{row}\n" * 500)
    said = call("run", path, *QUICK)
    assert_refused(said, 4, "500 rows that cannot be used")
    assert "... and 480 more." in said.err


def test_headers_may_be_written_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("Sent_More, SENT_LESS ,bias_type\nOld men sing.,Young men sing.,age\n")
    ((_, row),) = read_table(path, OURS)
    assert list(row) == list(OURS)


def test_columns_and_encoding_are_what_a_user_says(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    text = "id;biased;fair;kind;sent_more\na;Café Männer.;Café Frauen.;gender;no\n"
    path.write_bytes(text.encode("mac-roman"))
    columns = [
        part
        for name, own in zip(OURS, ("Biased", "fair", "kind"), strict=True)
        for part in ("--column", f"{name}={own}")
    ]
    out = tmp_path / "out"
    refused = call("run", path, *QUICK, "--out", out)
    assert_refused(refused, 4, "--encoding")
    said = call("run", path, *QUICK, "--encoding", "mac-roman", *columns, "--json", "--out", out)
    assert said.code == 0, said.err
    assert said.json["results"][0]["data"]["items"] == 1
    wrong = call("run", path, *QUICK, "--encoding", "mac-roman", "--column", "sent_more=absent")
    assert_refused(wrong, 4, "no column 'absent'")
    with pytest.raises(UsageError, match="no encoding 'martian'"):
        Layout("martian")
    assert_refused(call("run", "starter", *QUICK, "--encoding", "latin-1"), 2, "as it was released")


def test_a_bare_list_of_stereoset_items_is_read(tmp_path: Path) -> None:
    path = tmp_path / "test.json"
    follows = intra("b") | {"context": "He is a man.", "data": {}}
    path.write_text(json.dumps([intra("a"), follows]))
    said = call("show", path, "--json")
    assert said.code == 0, said.err
    counts = {row["task"]: row["items"] for row in said.json["statistics"]["cat"]}
    assert counts == {"intrasentence": 1, "intersentence": 1, "both": 2}


def test_file_and_limit_are_in_title_and_folder(tmp_path: Path) -> None:
    path = tmp_path / "my-pairs.csv"
    path.write_text(PAIRS)
    out = tmp_path / "out"
    said = call("run", path, "starter", *QUICK, "--limit", 2, "--out", out, "--json")
    own, *_ = said.json["results"]
    assert own["data"]["title"].endswith("(my-pairs.csv), 2 items drawn")
    names = sorted(folder.name for folder in out.iterdir())
    assert all(name.endswith("-limit2") for name in names)
    assert any(name.startswith("my-pairs-") for name in names)


def test_run_says_where_the_benchmark_is_written() -> None:
    said = call("run", "--benchmark", "starter", *QUICK)
    assert said.code == 2
    assert "without an option: `stereometer run stereoset -m MODEL`" in said.err
