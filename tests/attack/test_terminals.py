"""What reaches a terminal, and output that is closed or takes ASCII only."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import stereometer
from tests.builders.commands import PROGRAM, assert_refused, call, shell
from tests.builders.stored import sealed

RUN = ("run", "starter", "-m", "ideal", "--measure", "pair-likelihood", "--resamples", "100")
ASCII = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31mred \u202etxt.exe\u2066 \u200f"


def test_no_control_character_reaches_the_terminal(tmp_path: Path) -> None:
    assert call(*RUN, "--out", tmp_path / "run").code == 0

    def hostile(value: dict[str, Any]) -> None:
        value["notes"].append(f"a note {HOSTILE}")
        value["model"] = value["data"]["title"] = HOSTILE

    said = call("show", sealed(tmp_path / "run", hostile))
    assert said.code == 0
    assert "red" in said.out
    assert not set("\x1b\x07\x9b\u202e\u2066\u200f") & set(said.out)
    refused = call("show", f"no such thing {HOSTILE}")
    assert not set("\x1b\u202e") & set(refused.err)


@pytest.mark.long
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_terminal_that_takes_only_ascii(tmp_path: Path, more: tuple[str, ...]) -> None:
    said = shell(*RUN, "--out", tmp_path / "run", *more, env=ASCII)
    assert said.code == 0, said.err
    assert said.out.isascii()
    if more:
        assert said.json["schema"] == "runs@1"


@pytest.mark.long
@pytest.mark.parametrize("redirect", [">&-", "2>&-", "| head -1"])
def test_output_that_is_closed(tmp_path: Path, redirect: str) -> None:
    command = f"{PROGRAM} {' '.join(RUN)} --out {tmp_path / 'run'} {redirect}"
    strict = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(strict, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_more_resamples_than_memory_holds_are_refused() -> None:
    said = call("run", "starter", "-m", "ideal", "--resamples", 10**9)
    assert_refused(said, 2, "too many to hold in memory")


@pytest.mark.parametrize("name", ["result.json", "scores.jsonl", "run.json"])
def test_a_report_does_not_take_the_place_of_a_run(tmp_path: Path, name: str) -> None:
    assert call(*RUN, "--out", tmp_path / "run").code == 0
    folder = next((tmp_path / "run").glob("**/result.json")).parent
    before = (folder / name).read_bytes()
    assert_refused(call("report", folder, "-o", folder / name), 2, "a part of a run")
    assert (folder / name).read_bytes() == before
    assert stereometer.load(folder)
