"""Bits that flip in the answer cache: none changes an answer, and what is lost is asked again."""

from __future__ import annotations

import logging
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from stereometer.core.runs.cache import Cache, cache_key
from stereometer.core.types import Answer

ANSWERS = {
    f"request {number}": Answer(
        ({"logprob": array("d", [-number / 7, -1.5, -2.25])},),
        text=f"answer {number}" if number % 3 == 0 else None,
    )
    for number in range(40)
}
COLUMNS = ("key", "layout", "numbers", "checksum")


def filled(path: Path) -> bytes:
    with Cache(path) as cache:
        cache.put("model", ANSWERS)
    return path.read_bytes()


def flipped(raw: bytes, bit: int) -> bytes:
    changed = bytearray(raw)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def rows(path: Path) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    with closing(sqlite3.connect(path)) as raw:
        yield from raw.execute(
            "SELECT key, CAST(layout AS BLOB), numbers, checksum FROM answers ORDER BY key"
        ).fetchall()


@pytest.mark.parametrize("column", COLUMNS)
def test_a_flipped_bit_of_every_row_is_noticed_and_mended(
    tmp_path: Path, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "answers.sqlite"
    filled(path)
    dice = Random(column)
    with closing(sqlite3.connect(path)) as raw, raw:
        for row in list(rows(path)):
            value = row[COLUMNS.index(column)]
            wrong = flipped(value, dice.randrange(8 * len(value)))
            update = f"UPDATE answers SET {column} = ? WHERE key = ?"
            raw.execute(update, (wrong, row[0]))
    with caplog.at_level(logging.WARNING), Cache(path) as cache:
        assert cache.get("model", list(ANSWERS)) == {}
        assert ("40 answers in the cache" in caplog.text) is (column != "key")
        cache.put("model", ANSWERS)
        assert cache.get("model", list(ANSWERS)) == ANSWERS


def test_an_answer_under_the_key_of_another_request_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    filled(path)
    first, second = (cache_key("model", f"request {number}") for number in (1, 2))
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("DELETE FROM answers WHERE key = ?", (second,))
        raw.execute("UPDATE answers SET key = ? WHERE key = ?", (second, first))
    with Cache(path) as cache:
        assert cache.get("model", ["request 1", "request 2"]) == {}


def survives(path: Path, raw: bytes, bit: int) -> None:
    """Whatever the bit was of, answers are right or missing, and can be put again."""
    for leftover in path.parent.iterdir():
        leftover.unlink()
    path.write_bytes(flipped(raw, bit))
    with Cache(path) as cache:
        stored = cache.get("model", list(ANSWERS))
        assert all(stored[key] == ANSWERS[key] for key in stored), bit
        cache.put("model", {key: ANSWERS[key] for key in ANSWERS if key not in stored})
        assert all(
            answer == ANSWERS[key] for key, answer in cache.get("model", list(ANSWERS)).items()
        )


def bits(raw: bytes, count: int, seed: int) -> list[int]:
    return Random(seed).sample(range(8 * len(raw)), count)


def test_a_bit_flipped_anywhere_in_the_file_changes_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    raw = filled(path)
    for bit in bits(raw, 150, seed=1):
        survives(path, raw, bit)


@pytest.mark.long
def test_thousands_of_bits_flipped_anywhere_change_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    raw = filled(path)
    for bit in bits(raw, 3_000, seed=2):
        survives(path, raw, bit)
