"""Tables fit the terminal: nothing is cut, and what has no room is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from stereometer.core.show.table import Table, fitted, number, text, widths
from tests.builders.commands import call

RUN = ("run", "starter", "-m", "random", "--resamples", 100)


THREE = ("-m", "stereotyped", "-m", "fake")


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("models", [(), THREE])
@pytest.mark.parametrize("slices", [(), ("--slices",)])
def test_the_first_table_is_overall_and_tasks_with_every_column(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    models: tuple[str, ...],
    slices: tuple[str, ...],
) -> None:
    """Rows go before columns do: slices are asked for, and no column has to make room."""
    monkeypatch.setenv("COLUMNS", str(width))
    said = call(*RUN, *models, *slices, "--out", tmp_path / "out").out
    assert max(map(len, said.splitlines())) <= width
    assert "…" not in said
    assert "No room for" not in said
    rows = said.replace("\u00a0", " ").splitlines()
    tables = [at for at, row in enumerate(rows) if "verdict" in row]
    assert all(name in " ".join(rows[: tables[0] + 2]) for name in ("lms", "icat", "ss", "p"))
    tasks = [row for row in rows if row.strip().startswith("intrasentence  ")]
    assert len(tasks) == len(models) // 2 + 1
    assert sum("antistereo  " in row for row in rows) >= len(tasks)
    assert ("physical-appearance" in said) == bool(slices)
    line = "18 more slices (domains, domains within a task): --slices"
    assert (line in " ".join(said.split())) != bool(slices)


def test_a_constructed_baseline_says_so_beside_the_models(tmp_path: Path) -> None:
    said = call(*RUN, *THREE, "--limit", 40, "--out", tmp_path / "out").out
    (row, *_) = [line for line in said.splitlines() if line.startswith("stereotyped (constructed)")]
    assert "prefers stereotypes" in row
    assert "Constructed: made from the gold labels alone; stored as pair-likelihood@1." in said
    runs = call("show", tmp_path / "out").out
    assert runs.count("stereotyped (constructed)") == said.count("stereotyped (constructed)") == 3


def test_the_sparest_columns_go_first_and_no_others_than_needed() -> None:
    table = Table(
        (text("row"), number("aaaa", spare=1), number("bbbb", spare=2), number("cccc")),
        ((text("x"), number("1"), number("2"), number("3")),),
    )
    assert fitted(table, 80) == (table, ())
    assert fitted(table, 20)[1] == ("bbbb",)
    assert fitted(table, 10)[1] == ("aaaa", "bbbb")
    assert fitted(table, 5)[1] == ("aaaa", "bbbb", "cccc")


@pytest.mark.parametrize("width", [80, 100, 120])
def test_names_and_measures_are_listed_whole(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    said = call("list").out
    assert max(map(len, said.splitlines())) <= width
    row, *_ = [line for line in said.splitlines() if line.startswith("crows-pairs ")]
    assert row.split()[-1] in ("pair-likelihood", "4.0")
    assert ("licence" in said.splitlines()[0]) != ("No room for" in said)


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("slices", [(), ("--every-slice",)])
def test_a_comparison_loses_rows_before_columns_and_never_its_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, slices: tuple[str, ...]
) -> None:
    call(*RUN, "-m", "stereotyped", "--out", tmp_path)
    monkeypatch.setenv("COLUMNS", str(width))
    said = call("compare", *sorted(tmp_path.glob("*cat*")), "--resamples", 100, *slices).out
    assert max(map(len, said.splitlines())) <= width
    rows = [line.split()[0] for line in said.splitlines() if " ss  " in line]
    assert rows[:3] == ["overall", "intrasentence", "intersentence"]
    assert ("age" in rows) == ("No room for" not in said) == (width == 80)
    assert "higher;" in said
    assert "verdict" in said


def test_words_may_be_wrapped_and_numbers_not() -> None:
    rows = ((text("two words"), number("50.0 [40.0, 60.0]")),)
    table = Table((text(""), number("ss", spare=1)), rows)
    assert fitted(table, 24)[1] == ()
    assert fitted(table, 23)[1] == ("ss",)


def test_wide_columns_of_words_give_way_and_wide_characters_are_counted() -> None:
    rows = ((text("a long row of words"), text("한국어"), number("50.0 [40.0, 60.0]")),)
    table = Table((text(""), text(""), number("ss")), rows)
    assert widths(table, 80) == [19, 6, 17]
    assert widths(table, 40) == [13, 6, 17]
    assert widths(table, 20) == [5, 6, 17]


def test_several_models_are_shown_by_domain_side_by_side(tmp_path: Path) -> None:
    said = call(*RUN, "-m", "stereotyped", "--slices", "--out", tmp_path / "out")
    row, *_ = [line for line in said.out.splitlines() if line.startswith("nationality  ")]
    assert "* 100.0" in row
    assert "* beyond noise" in said.out


def test_notes_stand_once_and_after_the_first_number(tmp_path: Path) -> None:
    said = call(*RUN, "-m", "fake", "--out", tmp_path / "out")
    notes = [line for line in said.out.splitlines() if line.startswith("  note:")]
    assert len(notes) == len(set(notes)) > 1
    assert said.out.index("note:") > said.out.rindex("n / asked")
