"""The first board: the systems that the authors released, as docs/howto/board.md shows them."""

from __future__ import annotations

import csv
from itertools import chain
from pathlib import Path

import pytest

import stereometer
from stereometer.core.show import numbers
from stereometer.wings.board.site import build
from stereometer.wings.board.tables import RankedValue
from tests.conftest import released
from tests.golden.test_stereoset import SYSTEMS, replayed

pytestmark = pytest.mark.golden
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "board.md"
TABLE = PAGE.parent / "board" / "first.csv"


def shown(ranked: RankedValue) -> tuple[str, str]:
    return numbers.with_interval(ranked.estimate), ranked.words.removeprefix("rank ")


def test_the_released_systems_make_the_board_of_the_docs(tmp_path: Path) -> None:
    for system in SYSTEMS:
        replayed(system, tmp_path / "runs", variant="sound")
    stereometer.replay(
        released("crows_pairs/results_bert.csv"),
        benchmark="crows-pairs",
        name="bert-base-uncased",
        resamples=200,
        out=tmp_path / "runs" / "crows",
    )[0]
    board = build(tmp_path / "runs", output=tmp_path / "site")
    tables = {table.benchmark: table for table in board.tables}
    assert [len(tables[name].entries) for name in ("stereoset", "crows-pairs")] == [5, 1]
    rows = [
        [entry.system, *chain.from_iterable(map(shown, entry.ranked))]
        for entry in tables["stereoset"].entries
    ]
    with TABLE.open(encoding="utf-8", newline="") as file:
        assert rows == list(csv.reader(file))[1:]
    page = PAGE.read_text("utf-8")
    (pairs,) = tables["crows-pairs"].entries
    assert pairs.ranked[0].estimate.n == 1463
    assert f"CrowS-Pairs has {pairs.system} alone, without a rank." in page
    assert {entry.tier for table in board.tables for entry in table.entries} == {"reported"}
