"""Exports: what the numbers of stored runs become in other formats."""

from __future__ import annotations

import csv
from inspect import signature
from pathlib import Path

import pytest

import stereometer
from stereometer.core import catalog
from stereometer.wings.exports.exporter import export_runs as export
from tests.builders.commands import assert_refused, call


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    stereometer.run("starter", model="fake", out=folder, resamples=100, cache=False)
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_a_row_for_each_estimate(runs: Path, tmp_path: Path) -> None:
    (file,) = export("csv", [runs], tmp_path / "new")
    stored = [stereometer.load(path.parent) for path in sorted(runs.glob("*/result.json"))]
    estimates = [estimate for result in stored for estimate in result.estimates]
    rows = rows_of(file)
    assert [row["name"] for row in rows] == [estimate.name for estimate in estimates]
    for row, estimate in zip(rows, estimates, strict=True):
        assert row["value"] == ("" if estimate.value is None else str(estimate.value))
        assert {key: row[key] for key in estimate.slice} == dict(estimate.slice)


def test_csv_names_the_run_of_each_row(runs: Path, tmp_path: Path) -> None:
    (file,) = export("csv", [runs], tmp_path)
    assert {row["run"] for row in rows_of(file)} == {
        path.parent.name for path in runs.glob("*/result.json")
    }


def test_a_run_named_twice_is_written_once(runs: Path, tmp_path: Path) -> None:
    (once,) = export("csv", [runs], tmp_path / "once")
    (twice,) = export("csv", [runs, *runs.glob("*/result.json")], tmp_path / "twice")
    assert once.read_text("utf-8") == twice.read_text("utf-8")


def test_no_text_of_an_item_is_written(runs: Path, tmp_path: Path) -> None:
    (file,) = export("csv", [runs], tmp_path)
    written = file.read_text("utf-8")
    benchmark = stereometer.open_benchmark("starter")
    texts = [
        text
        for items in benchmark.shapes.values()
        for item in items
        for text in item.texts.values()
    ]
    assert not [text for text in texts if " " in text and text in written]


def test_the_command_says_what_it_wrote(runs: Path, tmp_path: Path) -> None:
    printed = call("export", "csv", runs, "--output", tmp_path, "--json")
    file = str(tmp_path / "estimates.csv")
    assert printed.json == {"schema": "export@1", "exporter": "csv", "files": [file]}
    assert file in call("export", "csv", runs, "-o", tmp_path).err


def test_an_unknown_exporter_is_refused_with_the_known_ones(runs: Path, tmp_path: Path) -> None:
    assert_refused(call("export", "cvs", runs, "-o", tmp_path), 2, "csv")
    assert_refused(call("export", "csv", tmp_path / "none", "-o", tmp_path), 4, "There is no")


def test_every_exporter_takes_runs_and_a_folder() -> None:
    for name in catalog.names("exporter"):
        assert list(signature(catalog.find("exporter", name)).parameters)[:2] == ["runs", "folder"]
