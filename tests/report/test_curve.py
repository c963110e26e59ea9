"""A series of checkpoints on the page: curves, the trend, and each against the first and last."""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer
from stereometer.report.figures.curve import curve
from stereometer.report.load import groups_of
from tests.builders.stored import sealed


def series(home: Path, steps: tuple[int, ...]) -> list[Path]:
    """Coins with other seeds, stored as checkpoints of one series."""
    for step in steps:
        stereometer.run(
            "starter", model="random", seed=step, out=home / f"s{step}", resamples=200, cache=False
        )
    folders = [file.parent for file in sorted(home.rglob("result.json"), reverse=True)]
    for folder in folders:
        of = {"series": "runs/step*", "step": float(folder.parts[-2][1:])}
        sealed(folder, lambda value, of=of: value["settings"].update(of))  # type: ignore[misc]
    return folders


@pytest.mark.long
def test_a_series_has_curves_a_trend_and_comparisons(tmp_path: Path) -> None:
    groups = groups_of(series(tmp_path, (30, 60, 90, 99)))
    metrics = {"cat": {"ss", "lms", "icat"}, "pair": {"preference"}}
    for _, group in groups:
        figure = curve(group)
        assert metrics[group.first.kind] <= {chart.name for chart in figure.charts}
        trend, comparison = figure.tables
        assert len(trend.rows) == (2 if group.first.kind == "cat" else 1)
        assert [row[0].text for row in comparison.rows] == ["30", "60", "90", "99"]
        first, last = comparison.rows[0], comparison.rows[-1]
        assert not first[2].text  # against itself
        assert first[3].text
        assert last[2].text
        assert not last[3].text
        assert "The series is runs/step*, 4 models" in figure.lead[0]
        steps = [row["step"] for row in figure.charts[0].spec["layer"][1]["data"]["values"]]
        assert steps == [30, 60, 90, 99]


@pytest.mark.long
def test_the_page_shows_the_series(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    stereometer.write_report(series(tmp_path / "runs", (1, 2, 3)), page)
    assert "Over the steps of a series" in page.read_text("utf-8")
    assert "A trend is tested from 4 steps on." in page.read_text("utf-8")


def test_fewer_than_three_are_no_series(tmp_path: Path) -> None:
    for _, group in groups_of(series(tmp_path, (1, 2))):
        assert not curve(group).charts
