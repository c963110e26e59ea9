"""What may be sorted, and the flat record for trackers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import stereometer
from stereometer.core.types import Estimate
from stereometer.wings.exports.exporter import export_runs as export
from stereometer.wings.exports.metadata import headline, ranked

MLFLOW_NAME = re.compile(r"[/\w.\- :]+", re.ASCII)


def estimate(value: float, low: float, high: float, ideal: float | None) -> Estimate:
    return Estimate("ss", {}, value, low, high, 10, 10, 0, ideal)


def test_an_ideal_within_the_scale_is_sorted_by_distance() -> None:
    number = ranked(estimate(44.0, 40.0, 48.0, 50.0))
    assert number is not None
    assert (number.name, number.lower_is_better) == ("|ss - 50|", True)
    assert (number.value, number.low, number.high) == (6.0, 2.0, 10.0)


def test_the_interval_of_a_distance_reaches_0_where_the_ideal_is_inside() -> None:
    number = ranked(estimate(52.0, 49.0, 55.0, 50.0))
    assert number is not None
    assert (number.low, number.high) == (0.0, 5.0)


def test_a_top_is_sorted_upwards_and_no_ideal_not_at_all() -> None:
    number = ranked(estimate(90.0, 80.0, 95.0, 100.0))
    assert number is not None
    assert (number.name, number.value, number.lower_is_better) == ("ss", 90.0, False)
    assert ranked(estimate(90.0, 80.0, 95.0, None)) is None


@pytest.mark.parametrize(
    ("run", "name"), [("cat-pseudo-likelihood", "icat"), ("pair-likelihood", "pair_preference")]
)
def test_one_number_stands_for_a_result(runs: Path, run: str, name: str) -> None:
    row = headline(stereometer.load(runs / f"starter-fake-{run}"))
    assert row is not None
    assert row.name == name


def test_metrics_are_flat_and_named_as_trackers_take_them(cats: Path) -> None:
    result = stereometer.load(cats)
    metrics, ss = result.metrics(), result.estimate("ss")
    head = "starter/cat-pseudo-likelihood/sound/ss"
    assert metrics[head] == ss.value
    assert (metrics[f"{head}_low"], metrics[f"{head}_high"]) == (ss.low, ss.high)
    assert (metrics[f"{head}_n"], metrics[f"{head}_asked"]) == (ss.n, ss.asked)
    assert metrics[f"{head}_from_ideal"] == abs((ss.value or 0) - 50)
    every = result.metrics(slices=True)
    assert metrics.items() < every.items()
    assert all(MLFLOW_NAME.fullmatch(name) for name in every)
    assert {type(value) for value in every.values()} == {float}


def test_a_missing_value_is_left_out_of_metrics(cats: Path) -> None:
    missing = Estimate("ss", {}, None, None, None, 1, 10, 0, 50.0, why="too few")
    result = replace(stereometer.load(cats), estimates=(missing,))
    names = {name.rsplit("/", 1)[1] for name in result.metrics()}
    assert names == {"ss_n", "ss_asked"}


def test_the_file_of_metrics_has_digest_variant_and_verdict(runs: Path, tmp_path: Path) -> None:
    (file,) = export("metrics", [runs], tmp_path)
    records = json.loads(file.read_text("utf-8"))
    assert [record["run"] for record in records] == sorted(path.name for path in runs.iterdir())
    for record in records:
        result = stereometer.load(runs / record["run"])
        assert record["metrics"] == result.metrics(slices=True)
        assert record["tags"]["data_digest"] == result.data["digest"]
        assert record["tags"]["variant"] == "sound"
        assert ": " in record["tags"]["verdict"]
