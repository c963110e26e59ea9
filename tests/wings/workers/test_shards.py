"""Parts of a run on machines that do not know each other, merged to the bytes of a whole run."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.errors import DataError, UsageError
from stereometer.core.runs.cache import Cache
from stereometer.kinds.pairs.items import Pair
from stereometer.wings.workers.shards import Part, merge_into, part_of
from tests.builders.commands import call
from tests.strategies import MODERATE

QUICK = ("--resamples", "200")


@MODERATE
@given(st.integers(0, 400), st.integers(1, 20))
def test_parts_ask_about_every_item_once_and_are_of_nearly_one_size(count: int, of: int) -> None:
    items = [Pair(f"p{at}", "Old.", "Young.", "age") for at in range(count)]
    parts = [Part(number, of).items(items) for number in range(1, of + 1)]
    assert sorted(item.id for part in parts for item in part) == sorted(i.id for i in items)
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 32


@pytest.mark.parametrize("text", ["0/4", "5/4", "3", "a/b", "1/0", "-1/4", "1/4/2"])
def test_a_shard_that_is_no_part_of_a_whole_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="K from 1 to N"):
        part_of(text)


def shard(number: int, of: int, out: Path, *options: str) -> None:
    arguments = ("run", "starter", "-m", "fake", "--shard", f"{number}/{of}", "--out", str(out))
    assert call(*arguments, *QUICK, *options).code == 0


@pytest.mark.long
def test_parts_that_are_merged_give_the_bytes_of_a_whole_run(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        shard(number, 3, tmp_path / "parts")
    assert not list((tmp_path / "parts").glob("*/result.json"))
    merged = call("cache", "merge", str(tmp_path / "parts"), "--json").json
    assert (merged["shards"], merged["missing"], merged["damaged"]) == (3, [], 0)
    assert merged["answers"] == merged["new"] == 2240
    call("run", "starter", "-m", "fake", "--out", str(tmp_path / "a"), *QUICK)
    whole = ("run", "starter", "-m", "fake", "--out", str(tmp_path / "b"), "--no-cache", *QUICK)
    call(*whole)
    for folder in (tmp_path / "a").iterdir():
        record = json.loads((folder / "run.json").read_text())["asked"]
        assert record["from_cache"] == record["distinct"] > 0
        for name in ("result.json", "scores.jsonl"):
            other = tmp_path / "b" / folder.name / name
            assert (folder / name).read_bytes() == other.read_bytes()


def test_a_part_that_is_run_again_asks_nothing_anew(tmp_path: Path) -> None:
    for _ in range(2):
        shard(1, 2, tmp_path)
    asked = json.loads((tmp_path / "shard-1-of-2.json").read_text())["asked"]
    assert asked["from_cache"] == asked["distinct"] > 0


def test_a_part_that_is_missing_is_named(tmp_path: Path) -> None:
    shard(1, 3, tmp_path)
    said = call("cache", "merge", str(tmp_path))
    assert said.code == 0
    assert "Missing: 2, 3" in said.err


@pytest.mark.long
def test_parts_of_another_plan_model_or_number_are_refused(tmp_path: Path) -> None:
    shard(1, 2, tmp_path / "a")
    others = {
        "seed": ("2/2", ("--seed", "5"), "same plan"),
        "parts": ("2/3", (), "parts of different runs"),
    }
    for name, (part, options, says) in others.items():
        number, of = map(int, part.split("/"))
        shard(number, of, tmp_path / name, *options)
        said = call("cache", "merge", str(tmp_path / "a"), str(tmp_path / name))
        assert said.code == 2
        assert says in said.err


def test_answers_of_different_models_are_not_merged(tmp_path: Path) -> None:
    """One name over other weights: the identity tells them apart."""
    shard(1, 2, tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    record = tmp_path / "b" / "shard-1-of-2.json"
    value = json.loads(record.read_text())
    for plan in value["plans"]:
        plan["identity"] = "f" * 64
    record.write_text(json.dumps(value))
    with Cache(tmp_path / "c") as cache, pytest.raises(UsageError, match="another model"):
        merge_into(cache, [tmp_path / "a", tmp_path / "b"])
    with Cache(tmp_path / "c") as cache:
        assert cache.info()["answers"] == 0


def test_what_is_no_shard_is_refused(tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        with pytest.raises(DataError, match="holds no shards"):
            merge_into(cache, [tmp_path])
        shard(1, 2, tmp_path)
        record = tmp_path / "shard-1-of-2.json"
        record.rename(tmp_path / "aside")
        with pytest.raises(DataError, match="has not ended"):
            merge_into(cache, [tmp_path])
        record.write_text("{}")
        with pytest.raises(DataError, match="not the record"):
            merge_into(cache, [tmp_path])
        (tmp_path / "aside").replace(record)
        record.with_suffix(".sqlite").write_bytes(b"no database " * 100)
        with pytest.raises(DataError, match="cannot be read"):
            merge_into(cache, [tmp_path])
        record.with_suffix(".sqlite").unlink()
        with pytest.raises(DataError, match="is not there"):
            merge_into(cache, [tmp_path])


def test_answers_that_were_damaged_on_the_way_are_left_out(tmp_path: Path) -> None:
    shard(1, 2, tmp_path)
    with closing(sqlite3.connect(tmp_path / "shard-1-of-2.sqlite")) as connection, connection:
        connection.execute(
            "UPDATE answers SET numbers = zeroblob(8) WHERE key = (SELECT min(key) FROM answers)"
        )
        connection.execute("UPDATE answers SET key = 7 WHERE key = (SELECT max(key) FROM answers)")
    with Cache(tmp_path / "c") as cache:
        merged = merge_into(cache, [tmp_path])
    assert merged.damaged == 2
    assert merged.new == merged.answers > 100
