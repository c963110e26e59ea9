"""Files of scores that are wrong in every way: exit 4, a sentence that names the file, nothing
written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import stereometer
from tests.builders.commands import assert_refused, call, shell
from tests.builders.little import little_stereoset, predictions

QUICK = ("--resamples", 100)
GOOD_LINE = '{"id": "p1", "sent_more": -1.0, "sent_less": -2.0}\n'
TABLE = "id,sent_more,sent_less,sent_more_score,sent_less_score\n"
ROW = "p1,Old men sing.,Young men sing.,-1.0,-2.0\n"


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    return little_stereoset(tmp_path / "dev.json")


def replay(scores: Path, dev: Path, *more: object) -> Any:
    return call(
        "replay",
        scores,
        "--benchmark",
        "stereoset",
        "--data",
        dev,
        "--out",
        dev.with_name("out"),
        *QUICK,
        *more,
    )


def content(good: str) -> dict[str, bytes]:
    """What can be wrong with a good file."""
    raw = good.encode()
    packed = gzip.compress(raw)

    def changed(old: str, new: str) -> bytes:
        assert old in good
        return good.replace(old, new, 1).encode()

    return {
        "empty.json": b"",
        "truncated.json": raw[: len(raw) // 2],
        "truncated.json.gz": packed[: len(packed) // 2],
        "page.json": b"<!DOCTYPE html><html>Not found</html>",
        "foreign.json": json.dumps({"results": {"stereoset": 0.5}}).encode(),
        "list.json": b"[1, 2, 3]",
        "latin.json": raw.replace(b"a0-s", b"a\xe9-s"),
        "utf16.json": good.encode("utf-16"),
        "nan.json": changed("-1.0", "NaN"),
        "inf.json": changed("-1.0", "-Infinity"),
        "huge.json": changed("-1.0", "-1e400"),
        "text.json": changed("-1.0", '"-1.0"'),
        "true.json": changed("-1.0", "true"),
        "twice.json": changed("a0-a", "a0-s"),
        "unknown.json": changed("a0-a", "zzz"),
        "keys.json": changed('"score": -1.0', '"score": -1.0, "score": -2.0'),
        "columns.csv": b"prompt,answer\na,b\n",
        "header.csv": TABLE.encode(),
        "cut.csv": (TABLE + "p1,Old men sing.\n").encode(),
        "quote.csv": (TABLE + 'p1,"Old men sing.\n').encode(),
        "number.csv": (TABLE + ROW.replace("-1.0", "low")).encode(),
        "nan.csv": (TABLE + ROW.replace("-1.0", "nan")).encode(),
        "twice.csv": (TABLE + ROW + ROW).encode(),
        "number.jsonl": (
            (GOOD_LINE + GOOD_LINE.replace("p1", "p2").replace("-1.0", '"-1"')).encode()
        ),
        "twice.jsonl": (GOOD_LINE + GOOD_LINE).encode(),
        "cut.jsonl": (GOOD_LINE + '{"id": "p2", "sent_m').encode(),
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    }


SMALLEST = '{"intrasentence": [{"id": "a0-s", "score": -1.0}, {"id": "a0-a", "score": -2.0}]}'


@pytest.mark.parametrize("name", list(content(SMALLEST)))
def test_a_bad_file_of_scores(dev: Path, name: str) -> None:
    path = dev.with_name(name)
    path.write_bytes(content(json.dumps(predictions(dev)))[name])
    assert_refused(replay(path, dev), 4, str(path))
    assert not dev.with_name("out").exists()


def test_a_folder_and_a_file_that_is_not_there(dev: Path) -> None:
    assert_refused(replay(dev.parent, dev), 4, "is a folder")
    assert_refused(replay(dev.with_name("missing.json"), dev), 4, "was not found")


def test_scores_of_other_items_say_so_and_what_to_do(dev: Path) -> None:
    path = dev.with_name("scores.json")
    path.write_text(json.dumps(predictions(dev)).replace("a0", "x0"))
    assert_refused(replay(path, dev), 4, "3 of the 36 ids", "--data")


@pytest.mark.long
def test_a_process_of_its_own_says_the_same(dev: Path) -> None:
    path = dev.with_name("scores.json")
    path.write_text('{"intrasentence": [')
    said = shell(
        "replay",
        path,
        "--benchmark",
        "stereoset",
        "--data",
        dev,
        "--out",
        dev.with_name("out"),
        "--json",
    )
    assert_refused(said, 4, str(path), "not valid JSON")


def test_an_integer_too_large_for_a_float(dev: Path) -> None:
    path = dev.with_name("scores.json")
    path.write_text(json.dumps(predictions(dev)).replace("-1.0", "1" + "0" * 400, 1))
    assert_refused(replay(path, dev), 4)


# ------------------------------------------------------------------------------------ odd but right


def odd(good: str) -> dict[str, bytes]:
    return {
        "with a mark": b"\xef\xbb\xbf" + good.encode(),
        "with windows line ends": (
            json.dumps(json.loads(good), indent=2).replace("\n", "\r\n").encode()
        ),
        "packed": gzip.compress(good.encode()),
        "with a line of a million characters": good.replace("{", "{" + " " * 10**6, 1).encode(),
    }


@pytest.mark.parametrize(
    "how",
    ["with a mark", "with windows line ends", "packed", "with a line of a million characters"],
)
def test_a_file_that_is_only_odd_gives_the_same_numbers(dev: Path, how: str) -> None:
    good = json.dumps(predictions(dev))
    path, plain = dev.with_name("odd.json"), dev.with_name("plain.json")
    path.write_bytes(odd(good)[how])
    plain.write_text(good)
    assert replay(path, dev).code == 0
    expected = stereometer.replay(plain, benchmark="stereoset", data=dev, resamples=100)[0]
    assert stereometer.load(dev.with_name("out")).estimates == expected.estimates
