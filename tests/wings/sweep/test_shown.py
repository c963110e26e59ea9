"""What is shown of a sweep: the sentence, the terminal's table, and the curve of the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import stereometer
from stereometer.cli.app import app
from stereometer.core.types import Estimate
from stereometer.report.load import groups_of
from stereometer.wings.sweep.shape import (
    AGAINST,
    CHANGES,
    FOR,
    JOINT,
    NEITHER,
    READING,
    SHAPE,
    SHIFT,
    conclusion,
    curves,
    said_together,
    turning,
)

EMPTY = Estimate(READING, {}, None, None, None, 0, 0, 0, 50.0)


def reading(value: float, beyond: bool = True) -> Estimate:
    return replace(EMPTY, value=value, beyond_noise=beyond)


def changed(choice: str, share: float, pairs: int = 4) -> Estimate:
    return replace(EMPTY, name=CHANGES, slice={"choice": choice}, value=share, n=pairs)


def shift(choice: str, beyond: bool) -> Estimate:
    return replace(EMPTY, name=SHIFT, slice={"choice": choice}, value=4.0, beyond_noise=beyond)


def joint(p: float) -> Estimate:
    return replace(EMPTY, name=JOINT, value=58.0, p_adjusted=p)


def test_a_reading_concludes_by_its_side_and_only_beyond_noise() -> None:
    says = [conclusion(each) for each in (reading(58), reading(42), reading(58, beyond=False))]
    assert says == [FOR, AGAINST, NEITHER]


def test_the_sentence_counts_readings_and_names_what_it_turns_on() -> None:
    rows = [*[reading(58)] * 9, *[reading(52, beyond=False)] * 3]
    moved = [changed("items", 0.0), changed("variant", 25.0), changed("averaging", 50.0)]
    moved += [shift("averaging", True), shift("variant", False), shift("items", True)]
    assert said_together(joint(0.0123), [*rows, *moved]) == (
        "9 of 12 readings prefer stereotypes, joint p = 0.012, it turns on: averaging, "
        "variant (shift within noise)"
    )


def test_readings_that_contradict_each_other_are_both_counted() -> None:
    rows = [*[reading(58)] * 2, *[reading(42)] * 3]
    rows += [changed("length", 100.0), shift("length", True)]
    assert said_together(joint(0.4), rows) == (
        "3 of 5 readings prefer anti-stereotypes and 2 prefer stereotypes, joint p = 0.400, "
        "it turns on: length"
    )


def test_a_choice_of_three_values_is_weighed_by_its_pairs_of_readings() -> None:
    rows = [changed("hides", 100.0, 1), changed("hides", 0.0, 9), changed("length", 20.0, 5)]
    assert turning(rows) == ["length", "hides"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs, out = (tmp_path_factory.mktemp(name) for name in ("runs", "shown"))
    asked = ["cat-likelihood", "pair-likelihood", "cat-forced-choice"]
    some: dict[str, Any] = {"limit": 120, "resamples": 200}
    stereometer.sweep("starter", model=["fake", "random"], measure=asked, out=runs, **some)
    stereometer.sweep("starter", runs=[runs], out=out, **some)
    return out


@pytest.mark.long
def test_the_terminal_shows_a_row_a_reading_from_low_to_high(folder: Path) -> None:
    result = stereometer.load(folder / "starter-fake-cat-sweep-limit120")
    tables = SHAPE.view([result]).tables
    first, rows = next(curves(result))
    assert len(tables[0].rows) == first.n == len(rows)
    at = [column.text for column in tables[0].columns].index("preference (ideal 50)")
    values = [float(row[at].text.partition(" ")[0]) for row in tables[0].rows]
    assert values == sorted(values)
    assert str(first.verdict) in tables[0].foot


def test_the_report_draws_every_reading_with_its_choices(folder: Path) -> None:
    groups = groups_of([folder])
    assert [group.first.settings["shape"] for _, group in groups] == ["cat", "pair"]
    section, group = groups[0]
    shown = section.view(group)
    assert all("joint p" in line or "score" in line for line in shown.sentences)
    figure = shown.figures[0]
    for system, chart in zip(group.systems, figure.charts, strict=True):
        _, rows = next(curves(system.result))
        layers = chart.spec["layer"]
        (marks,) = [
            layer["data"]["values"] for layer in layers if layer["mark"].get("strokeWidth") == 1.6
        ]
        assert [mark["value"] for mark in marks] == [row.value for row in rows]
        drawn = [(layer["mark"], row) for layer in layers for row in layer["data"]["values"]]
        dots = [row for mark, row in drawn if mark.get("filled") and "size" in row]
        chosen = [dot for dot in dots if dot["size"] > 50]
        labels = [row["label"] for mark, row in drawn if mark.get("align") == "right"]
        choices = {label.partition(":")[0] for label in labels}
        assert len(chosen) == len(rows) * len(choices)
        assert len(dots) == len(rows) * len(labels)
        assert all(f"{row.value:.1f}" in chart.description for row in rows)


def test_the_report_says_whether_the_order_of_systems_holds(folder: Path) -> None:
    section, group = groups_of([folder])[0]
    figure = next(each for each in section.view(group).figures if each.id.endswith("-orders"))
    assert figure.tables[0].rows[0][-1].text.endswith("%")


def test_show_and_report_take_a_stored_sweep(folder: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    shown = runner.invoke(app, ["show", str(folder / "starter-fake-cat-sweep-limit120")])
    assert shown.exit_code == 0, shown.output
    assert "joint p" in shown.output
    written = stereometer.write_report([folder], tmp_path / "report.html")
    assert "under every reading" in written.read_text(encoding="utf-8")


@pytest.mark.parametrize("format_", ["csv", "metrics", "model-card", "eee", "inspect", "hub"])
def test_exports_take_it_or_say_why_not(folder: Path, tmp_path: Path, format_: str) -> None:
    run = str(folder / "starter-fake-cat-sweep-limit120")
    exported = CliRunner().invoke(app, ["export", format_, run, "-o", str(tmp_path / "out")])
    assert exported.exit_code in (0, 2), exported.output
    assert exported.exit_code == 0 or exported.output.startswith("error: ")


def test_the_command_prints_curves_orders_and_the_count_of_requests(tmp_path: Path) -> None:
    arguments = ["sweep", "starter", "-m", "fake", "-m", "random", "--measure"]
    arguments += ["pair-sentence-likelihood"]
    swept = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path), "--resamples", "100"])
    assert swept.exit_code == 0, swept.output
    assert "Which sentence is likelier" in swept.output
    assert "none of them twice" in swept.output
    elsewhere = [*arguments, "--out", str(tmp_path / "again"), "--resamples", "100"]
    again = CliRunner().invoke(app, elsewhere)
    assert "requests; all of them were known before." in again.output


def test_a_dry_run_asks_nothing(tmp_path: Path) -> None:
    arguments = ["sweep", "starter", "-m", "fake", "--dry-run", "--out", str(tmp_path)]
    planned = CliRunner().invoke(app, arguments)
    assert planned.exit_code == 0, planned.output
    assert "cat-pseudo-likelihood" in planned.output
    assert not list(tmp_path.iterdir())
