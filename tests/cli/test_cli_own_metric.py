"""A metric or a kind of result that nobody declared still gets a table and a bar."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import stereometer
from stereometer.cli.command import show
from stereometer.cli.render import print_view
from stereometer.core import catalog
from stereometer.core.shapes.differences import Shift
from stereometer.core.show.view import View
from stereometer.wings.curation.restriction import shift_table
from tests.builders.commands import Said, assert_refused, call
from tests.builders.little import pairs_file

QUICK = ("--resamples", 100)


@pytest.fixture(autouse=True)
def means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalog.TABLE["method"], "means", "tests.builders.own_method:MEANS")


@pytest.fixture
def finely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalog.TABLE["method"], "finely", "tests.builders.own_method:FINELY")
    monkeypatch.setitem(catalog.TABLE["shape"], "finely", "tests.builders.own_method:FINE_SHAPE")


def run(folder: Path, *more: object, measure: str = "means") -> Said:
    pairs, out = pairs_file(folder / "pairs.csv"), folder / "out"
    return call("run", pairs, "-m", "fake", "--measure", measure, "--out", out, *QUICK, *more)


def test_a_metric_of_its_own_stands_in_the_plain_table(tmp_path: Path) -> None:
    ran = run(tmp_path)
    assert ran.code == 0
    assert "sent more" in ran.out
    assert "4 / 4" in ran.out


def test_two_models_stand_side_by_side_in_the_plain_table(tmp_path: Path) -> None:
    ran = run(tmp_path, "-m", "fake")
    assert ran.out.count("4 / 4") == 2


def test_a_bar_can_be_set_for_it(tmp_path: Path) -> None:
    assert run(tmp_path, "--require", "sent_more<1000").code == 0
    missed = run(tmp_path, "--require", "sent_more>1000")
    assert missed.code == 5
    assert "The bar is sent_more>1000." in missed.err


def test_a_bar_for_what_the_result_does_not_have_names_what_it_has(tmp_path: Path) -> None:
    refused = run(tmp_path, "--require", "surprise>1")
    assert refused.code == 2
    assert "Known: sent_less, sent_more." in refused.err


@pytest.mark.parametrize("bar", ["icat>=70", "pair_preferenc<60"])
def test_a_bar_of_another_shape_or_with_a_slip_is_refused_before_anything_is_asked(
    tmp_path: Path, bar: str
) -> None:
    refused = run(tmp_path, "--require", bar, measure="pair-likelihood")
    assert_refused(refused, 2, "which is not measured here", "pair_preference")
    assert not (tmp_path / "out").exists()


def test_a_kind_that_nobody_declared_gets_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, measure="pair-likelihood")
    result = replace(stereometer.load(tmp_path / "out"), kind="new")
    show(result)
    assert "pair preference (ideal 50)" in capsys.readouterr().out


@pytest.mark.usefixtures("finely")
def test_a_comparison_shows_the_digits_that_a_metric_declares(tmp_path: Path) -> None:
    run(tmp_path, measure="finely")
    value = stereometer.load(tmp_path / "out").estimate("sent_more").value
    shown = call("compare", tmp_path / "out", tmp_path / "out").out.splitlines()
    (row,) = [line for line in shown if "overall" in line and "sent more" in line]
    assert f" {value:.3f} " in row
    assert re.search(r"\+0\.000 \[-\d+\.\d{3}, \+\d+\.\d{3}\]", row)


@pytest.mark.usefixtures("finely")
def test_a_shift_shows_the_digits_that_a_metric_declares(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shift = Shift("sent_more", {}, 0.0, 1.2344, 10, 1.2361, 8).spanned((0.0004, 0.0031), "")
    print_view(View(parts=tuple(shift_table([shift], "clean", "finely"))))
    row = capsys.readouterr().out
    assert all(text in row for text in ("1.234", "1.236", "+0.002 [+0.000, +0.003]"))


def test_help_lists_commands_under_headings_and_gives_examples() -> None:
    lines = call("--help").out.splitlines()
    headings = [line for line in lines if line in HEADINGS]
    assert headings == HEADINGS
    assert "  stereometer run starter --model smollm2-135m" in call("run", "--help").out


@pytest.mark.parametrize(
    ("command", "panels"),
    [
        ("run", "Common Statistics Loading Server Groups Files Bars Workers"),
        ("ask", "Common Questions Statistics Loading Server Files Workers"),
        ("show", "Options"),
    ],
)
def test_every_option_stands_under_a_heading_the_rare_ones_last(command: str, panels: str) -> None:
    lines = call(command, "--help").out.partition("  Examples:")[0].splitlines()
    assert max(map(len, lines)) <= 80
    headings = [line.rstrip(":") for line in lines if line and line[0] not in " U"]
    assert headings == ["Arguments", *panels.split()]


HEADINGS = ["Measure:", "Look:", "People:", "Data:", "Models:"]
