"""Exit codes: 0 done, 2 usage, 3 model, 4 data, 5 threshold, 130 interrupted; and leaving a pipe
quietly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import stereometer
from stereometer.core.errors import BudgetSpent
from stereometer.core.runs import execute as execution
from stereometer.core.runs.stored import Run
from tests.builders.commands import PROGRAM, assert_refused, call, shell
from tests.builders.little import little_stereoset, pairs_file

QUICK = ("--resamples", 100)


def run(folder: Path, *more: object, model: str = "stereotyped") -> tuple[object, ...]:
    return (
        "run",
        pairs_file(folder / "pairs.csv"),
        "-m",
        model,
        "--out",
        folder / "out",
        *QUICK,
        *more,
    )


def test_0_done(tmp_path: Path) -> None:
    assert shell(*run(tmp_path)).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "starter", "-m", "fakee"),
        ("run", "sterioset", "-m", "fake"),
        ("run", "starter", "-m", "fake", "--variant", "loud"),
        ("run", "starter", "-m", "fake", "--resamples", "5"),
        ("run", "starter", "-m", "fake", "--coverage", "2"),
        ("run", "starter", "-m", "fake", "--require", "icat=70"),
        ("run", "starter", "-m", "fake", "--measure", "cat-liklihood"),
        ("run", "custom", "-m", "fake"),
        ("compare",),
        ("data", "add", "starter", "x.json"),
        ("data", "add", "nothing", "x.json"),
        ("data", "pull", "crows-pairs-french"),
        ("data", "pull", "stereoset", "--url", "ftp://x"),
        ("show", "nothing"),
    ],
)
def test_2_usage(arguments: tuple[str, ...]) -> None:
    assert_refused(call(*arguments), 2)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("run", "Missing argument 'BENCHMARK'."),
        ("run starter", "Missing option '--model' / '-m'. `stereometer run --help`"),
        ("nothing", "No such command 'nothing'."),
        ("run starter -m fake --limit 0", "The limit is 0. At least one item is needed."),
        ("list --nothing", "There is no option --nothing. `stereometer list --help`"),
        ("export csv runs --out x", "There is no option --out. Did you mean --output?"),
        ("run starter -m fake --key k", "read from STEREOMETER_SERVER_KEY"),
        ("data pull", "Missing argument"),
        ("list more", "unexpected extra argument"),
    ],
)
def test_2_usage_as_the_parser_sees_it(command: str, words: str) -> None:
    said = call(*command.split())
    assert_refused(said, 2, words)
    assert len(said.err.splitlines()) == 1


def test_3_model() -> None:
    assert_refused(
        shell("run", "starter", "-m", "random", "--measure", "pair-likelihood"),
        3,
        "random cannot answer pair-likelihood",
    )


def test_4_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEREOMETER_DATA", raising=False)
    said = shell("run", "stereoset", "-m", "fake")
    assert_refused(
        said,
        4,
        "is not on this machine",
        "stereometer data pull stereoset",
        "stereometer data add stereoset FILE",
    )


@pytest.mark.parametrize(
    "bar", ["pair_preference<10", "point(pair_preference) <= 99.9", "|pair_preference-10|<=5"]
)
def test_5_a_bar_that_is_missed_keeps_the_result(tmp_path: Path, bar: str) -> None:
    said = call(*run(tmp_path, "--require", bar))
    assert said.code == 5
    assert "pair_preference is 100.00" in said.err
    assert "Traceback" not in said.err
    assert stereometer.load(tmp_path / "out").estimate("pair_preference").value == 100.0


@pytest.mark.parametrize(
    "bar", ["point(pair_preference)>=100", "pair_preference>10", "pair_preference<=100"]
)
def test_0_a_bar_that_is_met(tmp_path: Path, bar: str) -> None:
    assert call(*run(tmp_path, "--require", bar)).code == 0


def test_7_a_bar_inside_the_interval_is_undecided(tmp_path: Path) -> None:
    """Every pair prefers the stereotype, and few pairs leave room below 100."""
    said = call(*run(tmp_path, "--require", "pair_preference>=100"))
    assert said.code == 7
    assert "The bar is pair_preference>=100: undecided." in said.err
    assert "point(NAME) asks about the value alone" in said.err
    assert stereometer.load(tmp_path / "out").estimate("pair_preference").value == 100.0


def test_5_wins_over_7(tmp_path: Path) -> None:
    bars = ("--require", "pair_preference>=100", "--require", "pair_preference<10")
    said = call(*run(tmp_path, *bars))
    assert said.code == 5
    assert "The bar is pair_preference<10." in said.err
    assert "The bar is pair_preference>=100: undecided." in said.err


def test_5_a_value_that_is_not_there_misses_every_bar(tmp_path: Path) -> None:
    dev = little_stereoset(tmp_path / "dev.json")
    said = call(
        "run", dev, "-m", "stereotyped", "--require", "lms>=0", "--out", tmp_path / "out", *QUICK
    )
    assert said.code == 5
    assert "lms is not available" in said.err


def test_2_a_bar_for_something_not_measured(tmp_path: Path) -> None:
    said = call(*run(tmp_path, "--require", "icat>=70"))
    assert said.code == 2
    assert "which is not measured here" in said.err


def test_5_with_json_still_prints_json_alone(tmp_path: Path) -> None:
    said = shell(*run(tmp_path, "--require", "pair_preference<10", "--json"))
    assert said.code == 5
    assert said.json["schema"] == "runs@1"


def test_2_a_negative_seed(tmp_path: Path) -> None:
    assert_refused(
        call("run", little_stereoset(tmp_path / "dev.json"), "-m", "ideal", "--seed", -1, *QUICK), 2
    )


def test_2_a_mistyped_benchmark_is_found_before_anything_is_run(tmp_path: Path) -> None:
    assert_refused(
        call("run", "starter", "starterr", "-m", "ideal", "--out", tmp_path / "out", *QUICK), 2
    )
    assert not (tmp_path / "out").exists()


SLOW = """
import sys, time
from stereometer.models.baselines import fake
quick = fake.Fake.answer
def answer(self, requests):
    for number, one in enumerate(quick(self, requests)):
        if number == 3:
            print("three answered", file=sys.stderr, flush=True)
            time.sleep(60)
        yield one
fake.Fake.answer = answer
from stereometer.cli import main
main()
"""


def test_130_interrupted_keeps_the_answers_and_the_same_command_goes_on(tmp_path: Path) -> None:
    arguments = [str(one) for one in run(tmp_path, model="fake")]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as slow:
        assert slow.stderr is not None
        assert slow.stderr.readline().startswith("Small slices: ")
        assert slow.stderr.readline() == "three answered\n"
        slow.send_signal(signal.SIGINT)
        out, err = slow.communicate(timeout=120)
    assert slow.returncode == 130
    assert err.startswith("interrupted: answers so far are kept")
    assert "Traceback" not in err
    assert out == ""
    assert call("cache", "info", "--json").json["answers"] == 3
    assert call(*arguments).code == 0
    assert call("cache", "info", "--json").json["answers"] == 8


HUNG_UP = """
from stereometer.models.baselines import fake
def answer(self, requests):
    raise ConnectionResetError("the server hung up")
    yield
fake.Fake.answer = answer
from stereometer.cli import main
main()
"""


def test_a_model_that_cannot_be_reached_is_not_blamed_on_the_output(tmp_path: Path) -> None:
    arguments = [str(one) for one in run(tmp_path, model="fake")]
    found = subprocess.run(
        [sys.executable, "-c", HUNG_UP, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "the server hung up" in found.stderr
    assert "output cannot be written" not in found.stderr
    assert "stored anyway" not in found.stderr


@pytest.mark.long
@pytest.mark.parametrize("json", [True, False])
def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path, json: bool) -> None:
    command = (
        f"{PROGRAM} run starter -m ideal --out {tmp_path / 'out'} --resamples 100"
        f" {'--json' if json else ''} | head -1"
    )
    found = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=120
    )
    assert len(found.stdout.splitlines()) <= 1
    assert "Traceback" not in found.stderr
    assert "Broken pipe" not in found.stderr


def test_a_closed_standard_output_is_no_traceback(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    found = subprocess.run(
        [PROGRAM, "list", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    os.close(writer)
    assert found.returncode == 0
    assert found.stderr == ""


def test_6_what_was_finished_before_the_budget_was_spent_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute, calls = execution.execute, iter(range(9))

    def spending(*arguments: object) -> Run:
        if next(calls):
            raise BudgetSpent("The budget is spent.")
        return execute(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(execution, "execute", spending)
    ran = call("run", "starter", "-m", "fake", "--out", tmp_path / "out", "--json", *QUICK)
    assert ran.code == 6
    assert [result["measure"] for result in ran.json["results"]] == ["cat-pseudo-likelihood@1"]
    assert "Stored in" in ran.err
