"""Results of older statistics are counted anew by everything that shows them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import stereometer
from stereometer.exports.exporter import export
from tests.builders.commands import call
from tests.builders.little import QUICK

OLD = "an older interval"


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Three runs that say what an earlier edition said: no ties were too many."""
    folders = []
    for name, seed in ("a", 1), ("b", 2), ("c", 3):
        stereometer.run(
            "starter", model="random", measure="cat-likelihood", seed=seed, name=name,
            out=tmp_path / name, **QUICK,
        )  # fmt: skip
        (folder,) = (tmp_path / name).iterdir()
        file = folder / "result.json"
        stored = json.loads(file.read_text())
        del stored["statistics"]
        stored["estimates"] = [
            {**row, "interval": OLD, "value": 12.5 if row["name"] == "ss" else row["value"]}
            for row in stored["estimates"]
        ]
        file.write_text(json.dumps(stored))
        folders.append(folder)
    return folders


def test_export_counts_anew(runs: list[Path], tmp_path: Path) -> None:
    (file,) = export("csv", runs, tmp_path / "tables")
    with file.open(encoding="utf-8", newline="") as opened:
        intervals = {row["interval"] for row in csv.DictReader(opened)}
    assert OLD not in intervals
    assert "t over target terms" in intervals


def test_relate_counts_anew(runs: list[Path]) -> None:
    points = stereometer.relate(*runs, resamples=100).points
    assert 12.5 not in {point.ss for point in points}


def test_show_counts_anew(runs: list[Path]) -> None:
    shown = call("show", runs[0], "--json").json
    assert shown["statistics"] == 2
    assert OLD not in {row["interval"] for row in shown["estimates"]}
