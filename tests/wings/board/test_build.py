"""The board: tables that are never mixed, and pages that need no network."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import stereometer
from stereometer.core.errors import UsageError
from stereometer.wings.board import tables
from stereometer.wings.board.site import Board, build
from tests.builders.commands import assert_refused, call


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board") / "site"
    build(runs, output=folder)
    return folder


@pytest.fixture(scope="module")
def board(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Board:
    return build(runs, output=tmp_path_factory.mktemp("board") / "site")


@pytest.mark.long
def test_a_table_is_of_one_benchmark_digest_method_and_variant(board: Board) -> None:
    keys = [
        (table.benchmark, table.data_digest, table.measure, table.variant) for table in board.tables
    ]
    assert len(set(keys)) == len(keys) == 4
    assert sorted((table.measure.split("@")[0], table.variant) for table in board.tables) == [
        ("cat-pseudo-likelihood", "paper"),
        ("cat-pseudo-likelihood", "sound"),
        ("pair-likelihood", "sound"),
        ("pair-sentence-likelihood", "sound"),
    ]


@pytest.mark.long
def test_other_items_of_the_same_benchmark_are_another_table(runs: Path, tmp_path: Path) -> None:
    stereometer.run("starter", model="fake", limit=60, out=tmp_path / "few", resamples=100)
    tables = build(runs, tmp_path / "few", output=tmp_path / "site").tables
    assert {len(table.entries) for table in tables if table.items == 60} == {1}
    assert len(tables) == 6


def test_icat_never_stands_alone(board: Board) -> None:
    for table in board.tables:
        for entry in table.entries:
            names = [ranked.estimate.name for ranked in entry.ranked]
            assert "icat" not in names or {"lms", "ss"} <= set(names)


def test_every_value_has_interval_coverage_and_a_rank_range(board: Board) -> None:
    (cats,) = [
        table for table in board.tables if len(table.entries) == 3 and "cat" in table.measure
    ]
    for entry in cats.entries:
        for ranked in entry.ranked:
            estimate = ranked.estimate
            assert estimate.low is not None
            assert estimate.low <= (estimate.value or 0) <= (estimate.high or 0)
            assert (estimate.n, estimate.asked) == (480, 480)
            assert ranked.best_rank is not None
            assert ranked.worst_rank is not None
            assert 1 <= ranked.best_rank <= ranked.worst_rank <= 3
    ideal = next(entry for entry in cats.entries if entry.system == "ideal")
    assert cats.entries[0] is ideal
    assert [(each.best_rank, each.worst_rank) for each in ideal.ranked][1:] == [(1, 1), (1, 1)]
    assert {entry.tier for entry in cats.entries} == {"reported"}


def test_the_json_is_what_the_pages_show(site: Path, board: Board) -> None:
    stored = json.loads((site / "board.json").read_text("utf-8"))
    assert stored == json.loads(json.dumps(board.as_json()))
    html = (site / "index.html").read_text("utf-8")
    for table in stored["tables"]:
        assert f'id="{table["id"]}"' in html
        for entry in table["entries"]:
            assert f'href="{entry["page_file"]}"' in html
            assert (site / entry["page_file"]).exists()
            for value in (ranked["estimate"]["value"] for ranked in entry["ranked"]):
                rounded = ("no score",) if value is None else (f"{value:.1f}", f"{value:.2f}")
                shown = [text.replace("-", "−") for text in rounded]
                assert any(text in html for text in shown)


def test_pages_load_nothing_and_hold_no_texts(site: Path, runs: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 4
    lines = next(runs.rglob("*cat*/scores.jsonl")).read_text("utf-8").splitlines()
    texts = [text for line in lines for text in json.loads(line)["texts"].values()]
    assert len(texts) > 100
    for page in pages:
        html = page.read_text("utf-8")
        outside = re.findall(r"""(?:src|href)=["']([^"']+)["']""", html)
        assert all(not re.match(r"(https?:)?//", link) for link in outside)
        assert "default-src 'none'" in html
        assert not [text for text in texts if len(text) > 20 and text in html]


def test_too_many_systems_get_no_ranks(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST_TESTED", 1)
    board = build(runs, output=tmp_path / "many")
    assert not any(table.pairs for table in board.tables)
    assert {each.best_rank for row in board.tables[0].entries for each in row.ranked} == {None}
    html = (tmp_path / "many" / "index.html").read_text("utf-8")
    assert "so they have no ranks" in html


def test_the_same_runs_give_the_same_bytes(runs: Path, site: Path, tmp_path: Path) -> None:
    build(runs, output=tmp_path / "again")
    for file in site.rglob("*.*"):
        assert file.read_bytes() == (tmp_path / "again" / file.relative_to(site)).read_bytes()


def test_a_name_is_text_wherever_it_stands(runs: Path, tmp_path: Path) -> None:
    name = '<img src=x onerror="alert(1)">/../../x'
    stereometer.run("starter", model="random", name=name, out=tmp_path / "odd", resamples=100)
    board = build(tmp_path / "odd", output=tmp_path / "site")
    pages = {entry.page_file for table in board.tables for entry in table.entries}
    assert all(re.fullmatch(r"models/[\w.-]+\.html", page) for page in pages)
    for page in (tmp_path / "site").rglob("*.html"):
        assert "<img" not in page.read_text("utf-8")


def test_a_rebuilt_board_keeps_no_page_of_a_model_that_left(runs: Path, tmp_path: Path) -> None:
    build(runs, output=tmp_path / "site")
    ideal = next(run for run in runs.iterdir() if "ideal" in run.name)
    build(ideal, output=tmp_path / "site")
    assert len(list((tmp_path / "site" / "models").iterdir())) == 1


def test_a_folder_of_other_files_is_left_alone(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="holds no board"):
        build(runs, output=tmp_path)
    assert_refused(call("board", "build", runs, "-o", tmp_path), 2, "holds no board")


def test_the_command_says_where_to_look(runs: Path, tmp_path: Path) -> None:
    said = call("board", "build", runs, "-o", tmp_path / "site", "--json")
    assert said.code == 0
    assert said.json["schema"] == "board@1"
    assert "index.html" in said.err


def test_a_run_that_asked_only_until_its_bars_were_decided_is_refused(tmp_path: Path) -> None:
    until = ("--require", "ss<=85", "--until-decided", "--measure", "cat-pseudo-likelihood")
    call("run", "starter", "-m", "fake", *until, "--out", tmp_path / "runs")
    (run,) = (tmp_path / "runs").iterdir()
    for command in (("board", "build", run, "-o"), ("submit", run, "-o")):
        said = call(*command, tmp_path / command[0])
        assert said.code == 2
        assert "until its bars were decided" in said.err
