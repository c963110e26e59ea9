"""Reading text and JSON: what is accepted, and the sentence that says why something is not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from stereometer.core.errors import DataError
from stereometer.core.files import finite, parse_json, read_json, read_jsonl, read_text
from tests.strategies import JSON, MODERATE, TEXT

ONE_FOLDER = settings(
    MODERATE, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@ONE_FOLDER
@given(TEXT)
def test_utf8_text_is_read_back_plain_or_packed_with_or_without_a_mark(
    tmp_path: Path, text: str
) -> None:
    text = "x" + text
    for raw in (text.encode(), b"\xef\xbb\xbf" + text.encode()):
        for packed in (raw, gzip.compress(raw)):
            (tmp_path / "file").write_bytes(packed)
            assert read_text(tmp_path / "file") == text.replace("\r\n", "\n")


def test_lines_of_windows_end_as_others_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"one\r\ntwo\r\n")
    assert read_text(tmp_path / "file") == "one\ntwo\n"


def test_a_line_of_a_million_characters_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps({"id": "x" * 10**6}) + "\n")
    assert [(line, len(value["id"])) for line, value in read_jsonl(tmp_path / "file")] == [
        (1, 10**6)
    ]


def bad_files(folder: Path) -> dict[str, Path]:
    packed = gzip.compress(b"some text " * 1000)
    content = {
        "empty": b"",
        "blank": b" \n\r\n\t ",
        "packed nothing": gzip.compress(b""),
        "Latin-1": "caf\xe9".encode("latin-1"),
        "UTF-16": "text".encode("utf-16"),
        "cut gz": packed[: len(packed) // 2],
        "gz without its end": packed[:-4],
        "only a gz mark": b"\x1f\x8b",
    }
    for name, raw in content.items():
        (folder / name).write_bytes(raw)
    (folder / "folder").mkdir()
    return {name: folder / name for name in (*content, "folder", "missing", "empty/below a file")}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("empty", "is empty"),
        ("blank", "is empty"),
        ("packed nothing", "is empty"),
        ("Latin-1", "not UTF-8 text. It was probably"),
        ("UTF-16", "not UTF-8"),
        ("cut gz", "cannot be read"),
        ("gz without its end", "cannot be read"),
        ("only a gz mark", "cannot be read"),
        ("folder", "is a folder"),
        ("missing", "was not found"),
        ("empty/below a file", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_text_is_named_with_the_reason(
    tmp_path: Path, name: str, says: str
) -> None:
    path = bad_files(tmp_path)[name]
    with pytest.raises(DataError) as error:
        read_text(path)
    assert str(path) in str(error.value)
    assert says in str(error.value)


def test_a_packed_file_with_a_wrong_byte_in_the_middle_cannot_be_read(tmp_path: Path) -> None:
    raw = bytearray(gzip.compress(bytes(range(256)) * 40))
    raw[20] ^= 0xFF
    raw[21] ^= 0xFF
    (tmp_path / "file").write_bytes(raw)
    with pytest.raises(DataError):
        read_text(tmp_path / "file")


# --------------------------------------------------------------------------------------------- JSON


@ONE_FOLDER
@given(JSON)
def test_json_is_read_back(tmp_path: Path, value: Any) -> None:
    (tmp_path / "file").write_text(json.dumps(value), "utf-8")
    assert read_json(tmp_path / "file") == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[NaN]", "it holds the number NaN"),
        ("[Infinity]", "it holds the number Infinity"),
        ('{"a": -Infinity}', "it holds the number -Infinity"),
        ('{"a": 1, "b": 2, "a": 1}', "the same key twice"),
        ('[{"x": {"a": 1, "a": 2}}]', "the same key twice"),
        ('{"a": 1', "not valid JSON: Expecting ',' delimiter at line 1, column 8"),
        ("{}\n{}", "not valid JSON: Extra data at line 2, column 1"),
        ("<html>", "not valid JSON"),
        ("[" * 100_000, "cannot be used"),
        ("9" * 5000, "cannot be used"),
    ],
)
def test_json_that_could_change_a_score_is_refused(text: str, says: str) -> None:
    with pytest.raises(DataError) as error:
        parse_json(text, "scores.json")
    assert "scores.json" in str(error.value)
    assert says in str(error.value)


def test_a_number_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(DataError):
        parse_json("[1e999]", "scores.json")


def test_jsonl_gives_line_numbers_and_passes_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \r\n{"a": 2}')
    assert list(read_jsonl(tmp_path / "file")) == [(1, {"a": 1}), (4, {"a": 2})]


@pytest.mark.parametrize("line", ["[1]", "3", "null", '"text"'])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "file").write_text('{"a": 1}\n' + line)
    with pytest.raises(DataError, match="line 2 is not a JSON object"):
        list(read_jsonl(tmp_path / "file"))


# ------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    ("value", "number"), [(1, 1.0), (-2.5, -2.5), ("3", 3.0), (" -1e-3 ", -0.001)]
)
def test_numbers_and_their_texts_are_numbers(value: object, number: float) -> None:
    assert finite(value, "here") == number


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "nan", "-inf", "one", "", None, True, [1], {}]
)
def test_anything_else_is_refused_with_its_place(value: object) -> None:
    with pytest.raises(DataError, match=r"^row 7: .* is not a finite number"):
        finite(value, "row 7")


def test_an_integer_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(DataError):
        finite(10**400, "here")
