"""Runs that are ended from outside: what was answered is kept, and the next one goes on."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from array import array
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from stereometer.core.runs.cache import Cache, default_path
from stereometer.core.runs.runner import Serial, Tally
from stereometer.core.types import Answer, Request, WholeText
from tests.builders.asking import answered
from tests.builders.commands import Said
from tests.builders.little import Counting
from tests.builders.stored import only

HELD = """
import sys
from stereometer.models.baselines import fake
from stereometer.cli import main

stop = int(sys.argv.pop(1))

class Held(fake.Fake):
    def answer(self, requests):
        for number, pair in enumerate(super().answer(requests)):
            if number == stop:
                print("held", flush=True)
                sys.stdin.read()
            yield pair

fake.Fake = Held
main()
"""
"""The program, with a model that answers so many requests and then waits."""
COMMAND = ["run", "starter", "-m", "fake", "--measure", "pair-likelihood", "--resamples", "100"]


def kept() -> int:
    if not default_path().exists():
        return 0
    with closing(sqlite3.connect(default_path())) as raw:
        (count,) = raw.execute("SELECT count(*) FROM answers").fetchone()
    return int(count)


def ended(after: int, how: signal.Signals, folder: Path) -> Said:
    """A run that got a signal when it had so many answers."""
    command = [sys.executable, "-c", HELD, str(after), *COMMAND, "--out", str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "held\n"
        run.send_signal(how)
        out, err = run.communicate()
    return Said(run.returncode, out, err)


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_asked_to_end_keeps_its_answers(tmp_path: Path, how: signal.Signals) -> None:
    said = ended(73, how, tmp_path / "run")
    assert said.code == 130
    assert "answers so far are kept" in said.err
    assert kept() == 73


def assert_goes_on(folder: Path, tmp_path: Path) -> None:
    """After any end, the same command finishes with the bytes of a run at once."""
    for place, *options in ((folder,), (tmp_path / "at once", "--no-cache")):
        command = [sys.executable, "-m", "stereometer", *COMMAND, "--out", str(place), *options]
        subprocess.run(command, check=True, capture_output=True)
    for name in ("result.json", "scores.jsonl"):
        here, there = only(folder) / name, only(tmp_path / "at once") / name
        assert here.read_bytes() == there.read_bytes()
    assert not list(folder.glob("**/*.part"))


def test_a_run_that_is_killed_goes_on_and_leaves_nothing_behind(tmp_path: Path) -> None:
    assert ended(90, signal.SIGKILL, tmp_path / "run").code == -signal.SIGKILL
    assert list(only(tmp_path / "run").glob(".*.part"))
    assert_goes_on(tmp_path / "run", tmp_path)


@pytest.mark.long
def test_runs_that_are_killed_at_any_moment_go_on(tmp_path: Path) -> None:
    dice = Random(3)
    folder = tmp_path / "run"
    for _ in range(12):
        ended(dice.randrange(1, 90), signal.SIGKILL, folder)
        assert json.loads((only(folder) / "run.json").read_text())["plan"]
    assert_goes_on(folder, tmp_path)


# ------------------------------------------------------------------------------ every ten seconds


class Slow(Counting):
    """Each answer takes four seconds of a clock that only it moves."""

    now = 0.0

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key in requests:
            self.now += 4.0
            yield key, Answer(({"logprob": array("d", [-1.0])},))


def test_answers_are_written_every_ten_seconds_however_few(tmp_path: Path) -> None:
    model, written = Slow(), []
    requests = {request.key: request for request in (WholeText(str(at)) for at in range(7))}

    class Watching(Cache):
        def put(self, identity: str, answers: Mapping[str, Answer]) -> None:
            written.append((model.now, len(answers)))
            super().put(identity, answers)

    with Watching(tmp_path / "answers.sqlite") as cache:
        answered(requests, Serial(model), cache, Tally(), clock=lambda: model.now)
    assert written == [(12.0, 3), (24.0, 3), (28.0, 1)]
