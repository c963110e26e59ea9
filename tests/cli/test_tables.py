"""Reading tables: comma, semicolon or tab, quoted line breaks, and what is wrong with the rest."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stereometer.core.errors import DataError
from stereometer.core.tables import read_table
from tests.strategies import MODERATE, tables

HEADER = ["id", "sent_more", "sent_less"]


@settings(
    MODERATE, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    tables(3),
    st.sampled_from(",;\t"),
    st.sampled_from([(csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\r\n"), (csv.QUOTE_ALL, "\n")]),
)
def test_whatever_a_csv_writer_writes_is_read_back(
    tmp_path: Path, rows: list[list[str]], mark: str, style: tuple[Literal[0, 1], str]
) -> None:
    """(Before Python 3.13 a writer that ends lines in \\n leaves \\r unquoted unless it quotes
    everything.)"""
    quoting, end = style
    path = tmp_path / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=mark, quoting=quoting, lineterminator=end).writerows(
            [HEADER, *rows]
        )
    expected = [
        {name: field.replace("\r\n", "\n") for name, field in zip(HEADER, row, strict=True)}
        for row in rows
    ]
    assert [row for _, row in read_table(path, HEADER)] == expected


def table(folder: Path, text: str) -> Path:
    (folder / "table.csv").write_bytes(text.encode())
    return folder / "table.csv"


def test_a_mark_of_byte_order_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert list(read_table(table(tmp_path, "\ufeffid,x\r\n1,2\r\n"), ["id"])) == [
        (2, {"id": "1", "x": "2"})
    ]


def test_line_numbers_count_the_lines_inside_quotes(tmp_path: Path) -> None:
    path = table(tmp_path, 'id,x\n1,"two\nlines"\n2,one\n')
    assert [(line, row["id"]) for line, row in read_table(path, [])] == [(3, "1"), (4, "2")]


def test_a_field_of_a_million_characters_is_a_field(tmp_path: Path) -> None:
    ((_, row),) = read_table(table(tmp_path, "id,x\n1," + "y" * 10**6), [])
    assert len(row["x"]) == 10**6


def test_missing_columns_are_named_with_those_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no column b, c. Its columns are 'a', 'd'"):
        list(read_table(table(tmp_path, "a,d\n1,2\n"), ["a", "b", "c"]))


@pytest.mark.parametrize("row", ["1", "1,2,3", "1,2,3,4"])
def test_a_row_with_another_number_of_fields_is_named(tmp_path: Path, row: str) -> None:
    with pytest.raises(DataError, match="line 3 does not have 2 fields"):
        list(read_table(table(tmp_path, f"a,b\n1,2\n{row}\n"), ["a"]))


@pytest.mark.parametrize("row", ['1,"open', '1,"a"b'])
def test_bad_quotes_are_refused(tmp_path: Path, row: str) -> None:
    with pytest.raises(DataError, match="badly quoted"):
        list(read_table(table(tmp_path, f"a,b\n1,2\n{row}"), ["a"]))


@pytest.mark.parametrize("row", ['1,"open', '1,"a"b'])
def test_bad_quotes_are_named_with_their_line(tmp_path: Path, row: str) -> None:
    with pytest.raises(DataError, match=", line 3: "):
        list(read_table(table(tmp_path, f"a,b\n1,2\n{row}"), ["a"]))


def test_bad_quotes_in_the_header_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        list(read_table(table(tmp_path, '"a,b\n1,2\n'), ["a"]))


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        list(read_table(table(tmp_path, "a,b,a\n1,2,3\n"), ["a"]))
