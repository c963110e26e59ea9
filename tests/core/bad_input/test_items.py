"""Files of items that are wrong in every way, given to `run` and `show`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import stereometer
from tests.builders.commands import assert_refused, call
from tests.builders.little import PAIRS, intra, stereoset_file

QUICK = ("--resamples", 100)


def bad() -> dict[str, bytes]:
    good = json.dumps({"data": {"intrasentence": [intra("a"), intra("b")]}}).encode()
    packed = gzip.compress(good)
    return {
        "empty.csv": b"",
        "blank.jsonl": b"\n\n  \n",
        "truncated.json": good[:-20],
        "truncated.json.gz": packed[:-30],
        "foreign.json": b'{"data": 3}',
        "foreign.jsonl": b'{"prompt": "a", "answer": "b"}\n',
        "columns.csv": b"a,b\n1,2\n",
        "header.csv": b"sent_more,sent_less,bias_type\n",
        "short.csv": PAIRS.encode() + b"p5,Old men sing.\n",
        "quote.csv": PAIRS.encode() + b'p5,"Old men',
        "twice.csv": (PAIRS + PAIRS.splitlines()[1] + "\n").encode(),
        "direction.csv": PAIRS.replace(",antistereo,", ",sideways,").encode(),
        "latin.csv": PAIRS.replace("radio", "caf\xe9").encode("latin-1"),
        "line.jsonl": (
            b'{"sent_more": "Old men.", "sent_less": "Young men.", "bias_type":'
            b' "age"}\n{"sent_more": \n'
        ),
        "nan.jsonl": b'{"sent_more": NaN, "sent_less": "Young men.", "bias_type": "age"}\n',
        "words.txt": b"Some words on a line.\nAnd on another.\n",
    }


@pytest.mark.parametrize("command", ["run", "show"])
@pytest.mark.parametrize("name", list(bad()))
def test_a_bad_file_of_items(tmp_path: Path, name: str, command: str) -> None:
    path = tmp_path / name
    path.write_bytes(bad()[name])
    said = (
        call("show", path)
        if command == "show"
        else call("run", path, "-m", "fake", "--out", tmp_path / "out", *QUICK)
    )
    assert_refused(said, 4, str(path))
    assert not (tmp_path / "out").exists()


def odd() -> dict[str, bytes]:
    return {
        "with a mark": b"\xef\xbb\xbf" + PAIRS.encode(),
        "with windows line ends": PAIRS.replace("\n", "\r\n").encode(),
        "without a last line end": PAIRS.rstrip("\n").encode(),
        "with semicolons": PAIRS.replace(",", ";").encode(),
        "with tabs": PAIRS.replace(",", "\t").encode(),
        "packed": gzip.compress(PAIRS.encode()),
        "with blank lines": PAIRS.replace("\n", "\n\n").encode(),
    }


@pytest.mark.parametrize("how", list(odd()))
def test_a_file_that_is_only_odd_gives_the_same_numbers(tmp_path: Path, how: str) -> None:
    (tmp_path / "pairs.csv").write_bytes(odd()[how])
    (tmp_path / "plain.csv").write_text(PAIRS)
    assert (
        call("run", tmp_path / "pairs.csv", "-m", "fake", "--out", tmp_path / "out", *QUICK).code
        == 0
    )
    (expected,) = stereometer.run(str(tmp_path / "plain.csv"), model="fake", resamples=100)
    found = stereometer.load(tmp_path / "out")
    assert found.estimates == expected.estimates
    assert found.data["digest"] == expected.data["digest"]


def test_a_sentence_of_a_million_characters_is_measured(tmp_path: Path) -> None:
    words = "sing " * 20_000 + "x" * 900_000
    (tmp_path / "own.jsonl").write_text(
        json.dumps(
            {"sent_more": f"Old men {words}", "sent_less": f"Young men {words}", "bias_type": "age"}
        )
    )
    said = call("run", tmp_path / "own.jsonl", "-m", "random", "--out", tmp_path / "out", *QUICK)
    assert said.code == 0
    assert stereometer.load(tmp_path / "out").estimate("pair_preference").n == 1


def test_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(
        '{"sent_more": "Old \\ud800 men.", "sent_less": "Young \\ud800 men.", "bias_type": "age"}'
    )
    assert_refused(
        call("run", tmp_path / "own.jsonl", "-m", "fake", "--out", tmp_path / "out", *QUICK), 4
    )


def test_items_that_can_none_of_them_be_scored_give_no_number_and_the_exit_code_of_that(
    tmp_path: Path,
) -> None:
    item = intra("a", sentences=intra("a")["sentences"][:2])
    path = stereoset_file(tmp_path / "own.json", [item])
    said = call("run", path, "-m", "fake", "--out", tmp_path / "out", *QUICK, "--json")
    assert said.code == 3
    assert "nothing to score" in said.err
    (result,) = said.json["results"]
    assert {(one["value"], one["why"]) for one in result["estimates"]} == {
        (None, "nothing could be scored")
    }
