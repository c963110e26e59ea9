"""Tables fit the terminal: nothing is cut, and what has no room is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from stereometer.show.table import Table, fitted, number, text
from tests.builders.commands import call

RUN = ("run", "starter", "-m", "random", "--resamples", 100)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("more", [(), ("-m", "stereotyped")])
def test_every_line_fits_and_no_value_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, more: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    said = call(*RUN, *more, "--out", tmp_path / "out")
    assert max(map(len, said.out.splitlines())) <= width
    assert "…" not in said.out
    assert "physical-appearance" in said.out
    assert "ss (ideal 50)" in said.out


def test_a_narrow_table_names_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = call(*RUN, "--out", tmp_path / "out")
    assert "No room for: terms" in said.out
    assert "--json shows them" in " ".join(said.out.split())
    monkeypatch.setenv("COLUMNS", "200")
    assert "No room for" not in call(*RUN, "--out", tmp_path / "out").out


def test_the_sparest_columns_go_first_and_no_others_than_needed() -> None:
    table = Table(
        (text("row"), number("aaaa", spare=1), number("bbbb", spare=2), number("cccc")),
        ((text("x"), number("1"), number("2"), number("3")),),
    )
    assert fitted(table, 80) == (table, ())
    assert fitted(table, 20)[1] == ("bbbb",)
    assert fitted(table, 10)[1] == ("aaaa", "bbbb")


def test_words_may_be_wrapped_and_numbers_not() -> None:
    rows = ((text("two words"), number("50.0 [40.0, 60.0]")),)
    table = Table((text(""), number("ss", spare=1)), rows)
    assert fitted(table, 24)[1] == ()
    assert fitted(table, 23)[1] == ("ss",)


def test_several_models_are_shown_by_domain_side_by_side(tmp_path: Path) -> None:
    said = call(*RUN, "-m", "stereotyped", "--out", tmp_path / "out")
    row, *_ = [line for line in said.out.splitlines() if line.startswith("nationality  ")]
    assert "100.0" in row
    assert row.endswith("*")
    assert "* beyond noise" in said.out


def test_notes_stand_once_and_after_the_first_number(tmp_path: Path) -> None:
    said = call(*RUN, "-m", "fake", "--out", tmp_path / "out")
    notes = [line for line in said.out.splitlines() if line.startswith("  note:")]
    assert len(notes) == len(set(notes)) > 1
    assert said.out.index("note:") > said.out.rindex("n / asked")
