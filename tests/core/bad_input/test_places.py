"""Folders that cannot be written, a disk that is full, a broken cache, two runs in one folder."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stereometer
from tests.builders.commands import PROGRAM, assert_refused, call, shell
from tests.builders.little import pairs_file
from tests.builders.stored import only, sealed

QUICK = ("--resamples", 100)


def run(folder: Path, out: object, *more: object, model: str = "fake") -> tuple[object, ...]:
    return ("run", pairs_file(folder / "pairs.csv"), "-m", model, "--out", out, *QUICK, *more)


@pytest.mark.parametrize("out", ["/dev/null/x", "/proc/x"])
def test_an_output_folder_that_cannot_be_made(tmp_path: Path, out: str) -> None:
    assert_refused(call(*run(tmp_path, out)), 1, f"{out}/pairs-", "cannot be written", "--out")


def test_a_file_in_the_place_of_the_output_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    assert_refused(call(*run(tmp_path, tmp_path / "out")), 1, "cannot be written")
    assert (tmp_path / "out").read_text() == "mine"


def limited_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))


@pytest.mark.long
def test_a_full_disk_is_said_and_the_same_command_goes_on_later(tmp_path: Path) -> None:
    """The scores of the starter set are larger than the largest file allowed here."""
    arguments = (
        "run",
        "starter",
        "-m",
        "ideal",
        "--measure",
        "cat-likelihood",
        "--out",
        tmp_path / "out",
        *QUICK,
    )
    said = shell(*arguments, preexec_fn=limited_files)
    assert_refused(said, 1, "scores.jsonl cannot be written: File too large")
    assert sorted(os.listdir(only(tmp_path / "out"))) == [".lock", "run.json"]
    assert call(*arguments).code == 0
    assert stereometer.load(tmp_path / "out").estimate("icat").value == 100.0


@pytest.mark.long
def test_a_full_disk_under_the_cache_is_said(tmp_path: Path) -> None:
    said = shell(
        "run",
        "starter",
        "-m",
        "fake",
        "--measure",
        "cat-pseudo-likelihood",
        "--out",
        tmp_path / "out",
        *QUICK,
        preexec_fn=limited_files,
    )
    assert_refused(said, 1, "The answer cache", "STEREOMETER_CACHE")


@pytest.mark.long
def test_a_full_disk_under_standard_output_is_said() -> None:
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [PROGRAM, "list", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert found.returncode == 1
    assert "Traceback" not in found.stderr


# -------------------------------------------------------------------------------------------- cache


@pytest.mark.long
def test_a_broken_cache_is_put_aside_and_the_run_goes_on(tmp_path: Path, own_home: Path) -> None:
    cache = own_home / "cache" / "answers.sqlite"
    cache.parent.mkdir()
    cache.write_bytes(b"no database at all" * 1000)
    said = shell(*run(tmp_path, tmp_path / "out"))
    assert said.code == 0
    assert "The answer cache was broken" in said.err
    assert "Traceback" not in said.err
    (aside,) = cache.parent.glob("*.broken-*")
    assert aside.read_bytes() == b"no database at all" * 1000
    assert call("cache", "info", "--json").json["answers"] == 8


def test_a_cache_that_cannot_be_opened_is_said(tmp_path: Path, own_home: Path) -> None:
    (own_home / "cache" / "answers.sqlite").mkdir(parents=True)
    assert_refused(call(*run(tmp_path, tmp_path / "out")), 1, "cannot be used", "STEREOMETER_CACHE")
    assert_refused(call("cache", "info"), 1, "cannot be used")


def test_a_cache_in_an_impossible_place_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEREOMETER_CACHE", "/dev/null/cache")
    assert_refused(call(*run(tmp_path, tmp_path / "out")), 1, "cannot be used")


# ----------------------------------------------------------------------------------- shared folders


def test_another_run_into_the_same_folder_is_refused_and_the_first_kept(tmp_path: Path) -> None:
    assert call(*run(tmp_path, tmp_path / "out")).code == 0
    before = {path.name: path.read_bytes() for path in only(tmp_path / "out").iterdir()}
    assert_refused(
        call(*run(tmp_path, tmp_path / "out", "--seed", 5)), 2, "other settings (seed)", "--out"
    )
    assert {path.name: path.read_bytes() for path in only(tmp_path / "out").iterdir()} == before


def test_the_same_run_into_the_same_folder_shows_what_is_there(tmp_path: Path) -> None:
    first, second = (call(*run(tmp_path, tmp_path / "out", "--json")) for _ in range(2))
    assert (second.code, second.json) == (0, first.json)


HOLDER = """
import sys
from pathlib import Path
from stereometer.core.runs import store as runs
with runs.claimed(Path(sys.argv[1]), {}):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_runs_at_once_in_one_folder_are_refused(tmp_path: Path) -> None:
    call(*run(tmp_path, tmp_path / "out"))
    shutil.rmtree(folder := only(tmp_path / "out"))
    held = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(held, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert_refused(call(*run(tmp_path, tmp_path / "out")), 2, "Another run is writing")
        holder.communicate()


@pytest.mark.long
def test_a_damaged_result_is_said_and_made_again(tmp_path: Path) -> None:
    assert call(*run(tmp_path, tmp_path / "out")).code == 0
    whole = (only(tmp_path / "out") / "result.json").read_bytes()
    (only(tmp_path / "out") / "result.json").write_bytes(whole[:100])
    said = shell(*run(tmp_path, tmp_path / "out"))
    assert (said.code, "Traceback" in said.err, "computed again" in said.err) == (0, False, True)
    assert (only(tmp_path / "out") / "result.json").read_bytes() == whole


def test_a_damaged_record_of_a_run_is_refused_and_left(tmp_path: Path) -> None:
    assert call(*run(tmp_path, tmp_path / "out")).code == 0
    (only(tmp_path / "out") / "run.json").write_text('{"schema": "ru')
    assert_refused(call(*run(tmp_path, tmp_path / "out")), 4, "run.json")
    assert (only(tmp_path / "out") / "run.json").read_text() == '{"schema": "ru'


# ----------------------------------------------------------------------------------- comparing runs


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    for model in ("ideal", "stereotyped"):
        call(*run(tmp_path, tmp_path / "runs", model=model))
    first, second = sorted((tmp_path / "runs").iterdir())
    return first, second


@pytest.mark.parametrize(
    ("file", "text", "code", "says"),
    [
        ("result.json", "", 4, "is empty"),
        ("result.json", "{", 4, "not valid JSON"),
        ("result.json", "[]", 4, "not a stereometer result"),
        ("result.json", '{"schema": "result@1", "statistics": 3}', 4, "not a stereometer result"),
        ("result.json", '{"schema": "stereometer-result@1"}', 4, "counted by other rules"),
        ("result.json", '{"schema": "stereometer-result@1", "statistics": 1}', 4, "is damaged"),
        ("scores.jsonl", "", 4, "is empty"),
        ("scores.jsonl", '{"item": "x"', 4, "line 1"),
        ("scores.jsonl", '{"item": "x"}\n', 4, "line 1 is damaged"),
        ("scores.jsonl", '{"item": "x", "slices": {}, "values": {}}\n', 4, "line 1 is damaged"),
    ],
)
def test_comparing_a_damaged_run(
    two: tuple[Path, Path], file: str, text: str, code: int, says: str
) -> None:
    (two[1] / file).write_text(text)
    if file == "scores.jsonl":
        sealed(two[1])
    assert_refused(call("compare", *two, *QUICK), code, says)


@pytest.mark.parametrize("gone", ["result.json", "scores.jsonl"])
def test_comparing_half_a_run(two: tuple[Path, Path], gone: str) -> None:
    (two[1] / gone).unlink()
    assert_refused(call("compare", *two, *QUICK), 4, gone)


def test_comparing_what_is_no_run(two: tuple[Path, Path], tmp_path: Path) -> None:
    assert_refused(
        call("compare", two[0], tmp_path / "nowhere"), 4, "nowhere'. A stored run is a folder"
    )
    assert_refused(call("compare", two[0], tmp_path / "pairs.csv"), 4)


def test_comparing_scores_without_values(two: tuple[Path, Path]) -> None:
    text = (two[1] / "scores.jsonl").read_text()
    (two[1] / "scores.jsonl").write_text(text.replace('"sent_more": -1.0, "sent_less": -2.0', ""))
    assert_refused(call("compare", *two, *QUICK), 4)
