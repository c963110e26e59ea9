"""What a person reads: every number with its interval, its denominator and its ideal."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from stereometer.cli.render import print_view
from stereometer.core.compare import Compared, Comparison
from stereometer.core.compare_view import pair_pieces
from stereometer.core.shapes.differences import Withheld
from stereometer.core.show.view import View
from stereometer.kinds.comments.view import _repeats
from tests.builders.commands import call
from tests.builders.little import PAIRS, little_stereoset, pairs_file
from tests.builders.sure import sure

QUICK = ("--resamples", 100)


def test_a_cat_table_names_slices_denominators_ideals_and_verdicts(tmp_path: Path) -> None:
    said = call(
        "run",
        little_stereoset(tmp_path / "dev.json", 12),
        "-m",
        "stereotyped",
        "--slices",
        "--out",
        tmp_path / "out",
        *QUICK,
    )
    assert "24 / 24" in said.out
    assert "ss (ideal 50)" in said.out
    assert "100.0 [86.2, 100.0]" in said.out
    assert "prefers stereotypes" in said.out
    assert "No score: not defined" in said.out
    assert "intersentence / profession" in said.out
    assert "does not show that a model is free of bias" in said.out


def test_a_pair_table_shows_ties_and_the_legend_what_was_skipped(tmp_path: Path) -> None:
    path = pairs_file(
        tmp_path / "pairs.csv",
        PAIRS
        + "p5,Same.,Same.,stereo,age\n"
        + "".join(f"q{n},Old {n} a.,Young {n} a.,stereo,age\n" for n in range(9)),
    )
    said = call("run", path, "-m", "fake", "--out", tmp_path / "out", *QUICK)
    assert "13 / 14" in said.out
    assert "identical sentences" in said.out


def test_compare_shows_differences_flips_and_what_could_be_seen(tmp_path: Path) -> None:
    path = pairs_file(tmp_path / "pairs.csv")
    for model in ("ideal", "stereotyped"):
        call("run", path, "-m", model, "--out", tmp_path / model, *QUICK)
    said = call("compare", tmp_path / "ideal", tmp_path / "stereotyped", *QUICK)
    assert "+50.0 [" in said.out
    assert "+50.0 [+50.0, +50.0]" not in said.out
    assert "not beyond noise  0.125" in said.out
    assert "4 items changed preference: 4 toward the stereotype, 0 away from it" in said.out
    assert "; 4 of them from or to a tie, which is no preference" in said.out
    assert "Could be seen" in said.out


def test_compare_lists_the_slices_beyond_noise_and_counts_the_others(tmp_path: Path) -> None:
    for model in ("ideal", "random"):
        call(
            "run",
            "starter",
            "-m",
            model,
            "--measure",
            "cat-pseudo-likelihood",
            "--out",
            tmp_path / model,
            *QUICK,
        )
    two = tmp_path / "ideal", tmp_path / "random"
    short, long = (call("compare", *two, *QUICK, *more).out for more in ([], ["--every-slice"]))
    said = r"(\d+) rows tested, \d+ of them in slices; (\d+) beyond noise \((\d+) more rows"
    tested, beyond, hidden = map(int, sure(re.search(said, short)).groups())
    assert hidden
    assert tested - beyond == long.count("not beyond noise")
    assert long.count("not beyond noise") - hidden == short.count("not beyond noise")
    assert short.count("overall") == long.count("overall") == 3 + 1  # the legend


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["show", "starter"],
        ["data", "where"],
        ["cache", "info"],
        ["cache", "clear"],
        ["--version"],
    ],
)
def test_every_looking_command_says_something(arguments: list[str]) -> None:
    said = call(*arguments)
    assert said.code == 0
    assert said.out + said.err


def test_a_dry_run_says_how_much_would_be_asked(tmp_path: Path) -> None:
    said = call("run", pairs_file(tmp_path / "pairs.csv"), "-m", "fake", "--dry-run")
    assert "4 items, 8 requests (8 distinct)" in said.out


@pytest.mark.parametrize("name", ["[/]", "[b]age", "[red]"])
def test_brackets_in_the_users_own_names_are_printed_as_they_are(tmp_path: Path, name: str) -> None:
    said = call(
        "run",
        pairs_file(tmp_path / "pairs.csv", PAIRS.replace("height", name)),
        "--slices",
        "-m",
        "fake",
        "--out",
        tmp_path / "out",
        *QUICK,
    )
    assert name in said.out


def test_one_repeat_is_no_repeats() -> None:
    assert list(_repeats({"repeats": 1, "temperature": 0.0})) == ["1 repeat at temperature 0"]
    assert list(_repeats({"repeats": 10})) == ["10 repeats"]


def test_slices_that_ties_leave_open_are_not_all_listed() -> None:
    rows = tuple(Withheld({"domain": str(n)}, 1, 1, "ss is undetermined") for n in range(9))
    pair = Compared("a", "b", 1, 1, (), rows, (), 0, 0)
    comparison = Comparison("starter", "cat-likelihood@1", "sound", ("a", "b"), (pair,), {})
    with redirect_stdout(StringIO()) as said:
        print_view(View(parts=tuple(pair_pieces(pair, "beyond noise", comparison))))
    assert "3 more differences are not compared (--every-slice lists them)." in said.getvalue()
    assert "metric" not in said.getvalue()
