"""The answer cache: what goes in comes out, under its own model and request only."""

from __future__ import annotations

import logging
import os
import sqlite3
from array import array
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stereometer.core.errors import StereometerError
from stereometer.core.runs.cache import RECORDS, VERSION, Cache, default_path, pack, unpack
from stereometer.core.types import Answer, ModelCard
from stereometer.core.types.opener import Records
from tests.strategies import ANSWERS, FEW, MODERATE

ONE_FOLDER = settings(
    FEW, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def answer(*numbers: float) -> Answer:
    return Answer(({"logprob": array("d", numbers)},))


@MODERATE
@given(ANSWERS)
def test_packing_loses_nothing(given_answer: Answer) -> None:
    assert unpack(*pack(given_answer)) == given_answer


def test_infinities_and_negative_zero_keep_their_bits() -> None:
    column = array("d", [float("-inf"), float("inf"), -0.0, 5e-324])
    (row,) = unpack(*pack(Answer(({"logprob": column},)))).rows
    assert row["logprob"].tobytes() == column.tobytes()


def test_single_precision_comes_back_as_it_was() -> None:
    assert unpack(*pack(Answer(({"logprob": array("f", [-1.0, -2.0])},)))).column(
        "logprob"
    ).tolist() == [-1.0, -2.0]


@ONE_FOLDER
@given(st.dictionaries(st.text(max_size=5), ANSWERS, max_size=8))
def test_what_is_put_is_got(tmp_path: Path, answers: dict[str, Answer]) -> None:
    (tmp_path / "answers.sqlite").unlink(missing_ok=True)
    with Cache(tmp_path / "answers.sqlite") as cache:
        cache.put("model", answers)
        assert cache.get("model", [*answers, "something else entirely"]) == answers


def test_answers_outlive_the_process_that_put_them(tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        cache.put("model", {"a": answer(-1.0)})
    with Cache(tmp_path / "c") as cache:
        assert cache.get("model", ["a"]) == {"a": answer(-1.0)}


def test_more_keys_than_one_query_takes(tmp_path: Path) -> None:
    many = {f"key {number}": answer(number) for number in range(1703)}
    with Cache(tmp_path / "c") as cache:
        cache.put("model", many)
        assert cache.get("model", list(many)) == many


CARD = ModelCard("name", "family", "backend@1", "weights", "tokenizer", "float32", {"prefix": True})


@pytest.mark.parametrize(
    "other",
    [
        ModelCard(
            "name", "family", "backend@2", "weights", "tokenizer", "float32", {"prefix": True}
        ),
        ModelCard(
            "name", "family", "backend@1", "other weights", "tokenizer", "float32", {"prefix": True}
        ),
        ModelCard(
            "name", "family", "backend@1", "weights", "other tokenizer", "float32", {"prefix": True}
        ),
        ModelCard(
            "name", "family", "backend@1", "weights", "tokenizer", "float16", {"prefix": True}
        ),
        ModelCard(
            "name", "family", "backend@1", "weights", "tokenizer", "float32", {"prefix": False}
        ),
    ],
)
def test_another_model_never_gets_the_answer(tmp_path: Path, other: ModelCard) -> None:
    with Cache(tmp_path / "c") as cache:
        cache.put(CARD.identity, {"a": answer(-1.0)})
        assert cache.get(other.identity, ["a"]) == {}


def test_another_name_for_the_same_model_does(tmp_path: Path) -> None:
    same = ModelCard(
        "other name", "family", "backend@1", "weights", "tokenizer", "float32", {"prefix": True}
    )
    with Cache(tmp_path / "c") as cache:
        cache.put(CARD.identity, {"a": answer(-1.0)})
        assert cache.get(same.identity, ["a"]) == {"a": answer(-1.0)}


def test_the_first_answer_stays(tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        cache.put("model", {"a": answer(-1.0)})
        cache.put("model", {"a": answer(-2.0)})
        assert cache.get("model", ["a"]) == {"a": answer(-1.0)}


# -------------------------------------------------------------------------------- size, info, clear


def test_info_counts_and_clear_forgets(tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        cache.put("model", {str(number): answer(number) for number in range(20)})
        assert cache.info()["answers"] == 20
        assert cache.info()["path"] == str(tmp_path / "c")
        assert cache.clear() == 20
        assert cache.info()["answers"] == 0
        assert cache.get("model", ["3"]) == {}


def test_over_the_cap_the_oldest_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr("stereometer.core.runs.cache.time.time", lambda: float(next(clock)))
    with Cache(tmp_path / "c", cap=200_000) as cache:
        for number in range(100):
            cache.put("model", {str(number): answer(*[0.5] * 500)})
        kept = sorted(map(int, cache.get("model", [str(number) for number in range(100)])))
        assert int(cache.info()["bytes"]) <= 200_000
    assert kept == list(range(100 - len(kept), 100))
    assert 20 < len(kept) < 50


def test_a_cap_below_one_answer_leaves_an_empty_healthy_cache(tmp_path: Path) -> None:
    with Cache(tmp_path / "c", cap=1) as cache:
        cache.put("model", {"a": answer(*[0.5] * 5000)})
        assert cache.info()["answers"] == 0


# ------------------------------------------------------------------------------------- broken files


def broken(path: Path, how: str) -> bytes:
    with Cache(path) as cache:
        cache.put("model", {str(number): answer(*range(200)) for number in range(200)})
    healthy = path.read_bytes()
    wrong = {
        "garbage": b"this is no database" * 500,
        "cut off": healthy[: len(healthy) // 2],
        "first page only": healthy[:4096],
        "scribbled over": healthy[:8192] + os.urandom(8192) + healthy[16384:],
    }[how]
    path.write_bytes(wrong)
    return wrong


@pytest.mark.parametrize("how", ["garbage", "cut off", "first page only"])
def test_a_broken_file_is_moved_aside_and_a_new_one_begun(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "answers.sqlite"
    wrong = broken(path, how)
    with caplog.at_level(logging.WARNING), Cache(path) as cache:
        cache.put("model", {"new": answer(-1.0)})
        assert cache.get("model", ["new", "1"]) == {"new": answer(-1.0)}
    (aside,) = tmp_path.glob("answers.sqlite.broken-*")
    assert aside.read_bytes() == wrong
    assert str(aside) in caplog.text


EVERYTHING = [str(number) for number in range(200)]


def test_a_page_that_is_found_broken_only_when_it_is_read_begins_a_new_file_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "answers.sqlite"
    broken(path, "scribbled over")
    with caplog.at_level(logging.WARNING), Cache(path) as cache:
        cache.get("model", EVERYTHING)
        cache.put("model", {"new": answer(-1.0)})
        assert cache.get("model", ["new"]) == {"new": answer(-1.0)}
    assert len(list(tmp_path.glob("answers.sqlite.broken-*"))) == 1
    assert "The answer cache was broken" in caplog.text


def test_of_two_that_find_a_page_broken_the_second_takes_the_new_file_of_the_first(
    tmp_path: Path,
) -> None:
    path = tmp_path / "answers.sqlite"
    broken(path, "scribbled over")
    with Cache(path) as first, Cache(path) as second:
        first.get("model", EVERYTHING)
        second.get("model", EVERYTHING)
        second.put("model", {"new": answer(-1.0)})
        assert first.get("model", ["new"]) == {"new": answer(-1.0)}
    assert len(list(tmp_path.glob("answers.sqlite.broken-*"))) == 1


def test_a_page_that_is_found_broken_only_when_it_is_written_begins_a_new_file_too(
    tmp_path: Path,
) -> None:
    path = tmp_path / "answers.sqlite"
    broken(path, "scribbled over")
    with Cache(path) as cache:
        cache.put("model", {f"new {number}": answer(-1.0) for number in range(100)})


@pytest.mark.parametrize("version", [1, 2, 3, 99])
def test_the_file_of_another_version_is_left_to_those_that_have_it_open(
    tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(tmp_path / "c", isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute(f"PRAGMA user_version = {version}")
        other.execute("CREATE TABLE theirs (key)")
        for number in range(2):
            other.execute("INSERT INTO theirs VALUES (?)", (number,))
            with Cache(tmp_path / "c") as cache:
                cache.put("model", {"a": answer(-1.0)})
                assert cache.get("model", ["a"]) == {"a": answer(-1.0)}
        other.execute("INSERT INTO theirs VALUES (2)")
    with closing(sqlite3.connect(tmp_path / "c")) as again:
        assert again.execute("SELECT key FROM theirs").fetchall() == [(0,), (1,), (2,)]
    assert {path.name for path in tmp_path.iterdir()} == {"c", f"c-{VERSION}"}
    assert caplog.text.count(f"is of version {version}, this program's of {VERSION}") == 1


@pytest.mark.parametrize("place", ["/dev/null/cache/answers.sqlite", "/proc/cache/answers.sqlite"])
def test_a_place_that_cannot_hold_a_cache_is_said(place: str) -> None:
    with pytest.raises(
        StereometerError, match=r"The answer cache .* cannot be used: .*STEREOMETER_CACHE"
    ):
        Cache(Path(place))


def test_a_folder_in_the_place_of_the_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(StereometerError, match="cannot be used"):
        Cache(tmp_path)


def test_the_variable_moves_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEREOMETER_CACHE", str(tmp_path / "there"))
    assert default_path() == tmp_path / "there" / "answers.sqlite"


@pytest.mark.parametrize("table", RECORDS)
def test_a_record_stays_as_it_was_first_kept_until_it_is_forgotten(
    tmp_path: Path, table: Records
) -> None:
    with Cache(tmp_path / "c") as cache:
        cache.keep(table, "one", "first")
        cache.keep(table, "one", "second")
    with Cache(tmp_path / "c") as cache:
        assert cache.record(table, "one") == "first"
        assert cache.record(table, "another") is None
        assert cache.info()["answers"] == 0
        cache.forget(table, "one")
        assert cache.record(table, "one") is None


@pytest.mark.parametrize("table", RECORDS)
def test_the_tables_of_records_are_apart(tmp_path: Path, table: Records) -> None:
    with Cache(tmp_path / "c") as cache:
        cache.keep(table, "one", "first")
        assert [other for other in RECORDS if cache.record(other, "one")] == [table]
        cache.clear()
        assert cache.record(table, "one") is None


@pytest.mark.parametrize("table", RECORDS)
@pytest.mark.parametrize("column", ["record", "checksum"])
def test_a_damaged_record_is_missing_and_can_be_kept_again(
    tmp_path: Path, table: Records, column: str
) -> None:
    with Cache(tmp_path / "c") as cache:
        cache.keep(table, "one", "first")
    with closing(sqlite3.connect(tmp_path / "c")) as raw, raw:
        raw.execute(f"UPDATE {table} SET {column} = 7")
    with Cache(tmp_path / "c") as cache:
        assert cache.record(table, "one") is None
        cache.keep(table, "one", "again")
        assert cache.record(table, "one") == "again"


@pytest.mark.parametrize("table", RECORDS)
@pytest.mark.parametrize("when", ["before it is opened", "while it is read", "while it is written"])
def test_a_lost_table_of_records_begins_a_new_file(
    tmp_path: Path, table: Records, when: str
) -> None:
    def lose() -> None:
        with closing(sqlite3.connect(tmp_path / "c")) as raw, raw:
            raw.execute(f"DROP TABLE {table}")

    with Cache(tmp_path / "c") as cache:
        cache.put("model", {"a": answer(-1.0)})
        if when != "before it is opened":
            lose()
        if when == "while it is read":
            assert cache.record(table, "one") is None
        if when == "while it is written":
            cache.keep(table, "one", "first")
    if when == "before it is opened":
        lose()
    with Cache(tmp_path / "c") as cache:
        cache.keep(table, "one", "first")
        assert cache.record(table, "one") == "first"
        assert cache.get("model", ["a"]) == {}
    assert len(list(tmp_path.glob("c.broken-*"))) == 1
