"""Bars of a file held against stored runs: outcomes, baselines, and files for builds."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from junitparser import JUnitXml
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from typer.testing import CliRunner

import stereometer
from stereometer.cli.app import app
from stereometer.core.errors import DataError, UsageError
from stereometer.core.gate.bars import BarRule, read_bar, read_rules
from stereometer.core.gate.gate import _changed, _no_worse, worsening, write
from stereometer.core.shapes.differences import Difference
from stereometer.core.stats.means import StudentMean
from stereometer.core.types import Estimate
from stereometer.testing import check_bars


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate")
    for model in ("fake", "random", "ideal"):
        stereometer.run("starter", model=model, out=folder / model)
    return folder


def bars(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "bars.toml"
    path.write_text(text)
    return path


NO_WORSE = ("lms", "ss", "icat", "pair_preference")


@pytest.mark.long
def test_every_rule_meets_every_run_that_it_is_about(runs: Path, tmp_path: Path) -> None:
    file = bars(
        tmp_path,
        """
        [[bars]]
        require = "lms>=90"
        [[bars]]
        require = "|pair_preference-50|<=4"
        measure = "pair-likelihood"
        [[bars]]
        require = "ss<=90"
        slice = { domain = "profession" }
        model = "ideal"
        """,
    )
    gate = stereometer.gate(runs / "ideal", bars=file)
    assert [(each.rule, each.outcome) for each in gate.judged] == [
        ("lms>=90", "met"),
        ("|pair_preference-50|<=4 (measure=pair-likelihood)", "undecided"),
        ("ss<=90 (model=ideal, domain=profession)", "met"),
    ]
    assert gate.outcome == "undecided"
    assert "more items would decide it" in gate.judged[1].hint


@pytest.mark.long
def test_a_gain_meets_a_margin_a_loss_misses_it_and_a_copy_decides_nothing(
    runs: Path, tmp_path: Path
) -> None:
    file = bars(tmp_path, '[[bars]]\nno_worse = "lms"\nmargin = 30')
    worse = stereometer.gate(runs / "random", bars=file, against=runs / "ideal")
    assert worse.outcome == "missed"
    better = stereometer.gate(runs / "ideal", bars=file, against=runs / "random")
    assert better.outcome == "met"
    assert better.judged[0].n == 480
    zero = bars(tmp_path, "\n".join(f'[[bars]]\nno_worse = "{name}"' for name in NO_WORSE))
    copy = stereometer.gate(runs / "fake", bars=zero, against=runs / "fake")
    assert [each.outcome for each in copy.judged] == ["undecided"] * len(NO_WORSE)


def test_overshooting_is_no_gain(runs: Path, tmp_path: Path) -> None:
    """Both sums and differences are there for what has an ideal of 50."""
    file = bars(tmp_path, '[[bars]]\nno_worse = "ss"\nmargin = 5')
    stereometer.run("starter", model="stereotyped", out=tmp_path / "stereotyped")
    worse = stereometer.gate(tmp_path / "stereotyped", bars=file, against=runs / "ideal")
    assert worse.outcome == "missed"
    better = stereometer.gate(runs / "ideal", bars=file, against=tmp_path / "stereotyped")
    assert better.outcome == "met"
    (row,) = better.judged
    assert row.value == pytest.approx(-50)  # the distance, not what was printed before
    assert ", distance from 50 -50.0 [" in row.seen


def test_as_far_on_the_other_side_is_no_change() -> None:
    row = Difference("ss", {}, 44.4, 55.6, 480, 480, 24, 50.0, 7.0, 15.0, sum_low=-4, sum_high=4)
    assert _changed(row)[1] == pytest.approx((0.0, -4.0, 4.0))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x = 1", "has no bars"),
        ("bars = 3", "has no bars"),
        ("[[bars]]\nrequire = 'ss'", "Bar 1 of"),
        ("[[bars]]\nrequire = 'ss<5'\nwhere = 'x'", "has where"),
        ("[[bars]]\nmargin = 1", "either `require` or `no_worse`"),
        ("[[bars]]\nno_worse = 'lms'\nrequire = 'ss<5'", "either"),
        ("[[bars]]\nno_worse = 'lms'\nmargin = -1", "margin of at least 0"),
        ("[[bars]]\nno_worse = 'lms'\nmargin = nan", "margin of at least 0"),
        ("[[bars]]\nrequire = 'ss<5'\nslice = { domain = 1 }", "a slice that is not text"),
        ("[[bars]\n", "is not TOML"),
    ],
)
def test_a_bad_file_is_refused_with_the_number_of_the_bar(
    tmp_path: Path, text: str, part: str
) -> None:
    with pytest.raises(DataError, match=part):
        read_rules(bars(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[[bars]]\nrequire = 'ss<5'\nbenchmark = 'stereoset'", "Did you mean starter"),
        ("[[bars]]\nrequire = 'ss<5'\nmodel = 'ranndom'", "Did you mean random"),
        ("[[bars]]\nrequire = 'iact<5'", "Did you mean icat"),
        ("[[bars]]\nno_worse = 'lms'", "--against"),
        ("[[bars]]\nrequire = 'ss<5'\nslice = { domain = 'proffession' }", "profession"),
    ],
)
def test_a_bar_that_nothing_is_held_against_does_not_pass(
    runs: Path, tmp_path: Path, text: str, part: str
) -> None:
    with pytest.raises(UsageError, match=part):
        stereometer.gate(runs / "random", bars=bars(tmp_path, text))


def test_a_baseline_measured_otherwise_is_refused(runs: Path, tmp_path: Path) -> None:
    stereometer.run("starter", model="random", limit=20, out=tmp_path / "limited")
    file = bars(tmp_path, '[[bars]]\nno_worse = "lms"')
    with pytest.raises(UsageError, match="has 0 runs of starter"):
        stereometer.gate(runs / "random", bars=file, against=tmp_path / "limited")


def test_files_for_builds_are_read_by_their_own_libraries(runs: Path, tmp_path: Path) -> None:
    file = bars(
        tmp_path,
        '[[bars]]\nrequire = "lms>=90"\n[[bars]]\nrequire = "|ss-50|<=1"\nmodel = "random"\n',
    )
    gate = stereometer.gate(runs / "random", runs / "ideal", bars=file)
    junit, summary, metrics = (tmp_path / name for name in ("j.xml", "s.md", "m.txt"))
    summary.write_text("Before.\n")
    write(gate, junit, summary, metrics)
    xml = JUnitXml.fromfile(str(junit))
    assert (xml.tests, xml.failures, xml.errors) == (3, 1, 1)
    families = {
        family.name: family for family in text_string_to_metric_families(metrics.read_text())
    }
    values = [sample.value for sample in families["stereometer_value"].samples]
    assert values == [each.value for each in gate.judged]
    states = {
        (sample.labels["model"], sample.labels["rule"], sample.labels["stereometer_bar"])
        for sample in families["stereometer_bar"].samples
        if sample.value
    }
    assert states == {(each.model, each.rule, each.outcome) for each in gate.judged}
    assert summary.read_text().startswith("Before.\n## stereometer gate: missed")


@pytest.mark.parametrize(
    ("bar", "value", "reach", "factor"),
    [("ss<=55", 54, 4, 4), ("ss>=50", 54, 4, 1), ("|ss-50|<=5", 47, 4, 2), ("ss<=55", 55, 4, None)],
)
def test_what_is_lacking_to_decide(
    bar: str, value: float, reach: float, factor: float | None
) -> None:
    estimate = Estimate("ss", {}, value, value - reach, value + reach, 10, 10, 0, 50.0)
    assert read_bar(bar).short_of(estimate) == factor


@pytest.mark.parametrize(
    ("name", "second", "margin", "more"),
    [("lms", 69.0, 3, "300"), ("lms", 67.0, 3, ""), ("lms", 64.0, 3, "78"), ("ss", 56.0, 4, "300")],
)
def test_what_is_lacking_to_decide_a_difference(
    runs: Path, name: str, second: float, margin: float, more: str
) -> None:
    """The interval reaches 4 points; where 2 are left, four times the items are needed."""
    first, ideal = (70.0, 100.0) if name == "lms" else (54.0, 50.0)
    step, total = second - first, first + second - 100
    ends = (total - 4, total + 4) if name == "ss" else (None, None)
    known = Difference(name, {}, first, second, 100, 100, 30, ideal, step - 4, step + 4)
    change = replace(known, sum_low=ends[0], sum_high=ends[1])
    result = stereometer.load(runs / "random" / "starter-random-cat-pseudo-likelihood")
    judged = _no_worse(BarRule(no_worse=name, margin=margin), result, change)
    assert judged.outcome == "undecided"
    wanted = (
        f"About {more} more items would decide it if the difference stays. stereoset has 4,229."
    )
    assert judged.hint == (wanted if more else ON_THE_MARGIN)


ON_THE_MARGIN = "The difference lies on the margin: more items will not decide it soon."


def test_the_errors_of_the_gate_are_sentences(runs: Path, tmp_path: Path) -> None:
    file = bars(tmp_path, '[[bars]]\nno_worse = "lms"\nmargin = 1')
    arguments = ["gate", str(runs / "random"), "--bars", str(file), "--against"]
    done = CliRunner().invoke(app, [*arguments, str(runs / "fake")])
    assert done.exit_code == 7
    assert "The bar is lms no worse by more than 1: undecided." in done.stderr
    assert "  " not in done.stderr


@pytest.mark.long
def test_the_page_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file and its commands, one after the other, fit each other."""
    page = (Path(__file__).parents[2] / "docs/howto/gate.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    bars(tmp_path, page.split('```toml title="bars.toml"\n')[1].split("```")[0])
    section = page.split("## The command\n```console\n")[1].split("```")[0]
    lines = [line.removeprefix("$ stereometer ") for line in section.splitlines()]
    codes = [CliRunner().invoke(app, shlex.split(line)).exit_code for line in lines]
    assert codes == [0, 0, 7]


def difference(first: float, second: float, change: StudentMean, both: StudentMean) -> Difference:
    (low, high), (sum_low, sum_high) = (mean.interval(0.95) for mean in (change, both))
    known = Difference("ss", {}, first, second, 30, 30, 30, 50.0, low, high)
    return Difference(**{**vars(known), "sum_low": sum_low, "sum_high": sum_high})


@pytest.mark.parametrize(
    ("before", "after", "margin", "wrong"),
    [(54, 56, 2, "met"), (52, 50, 0, "missed"), (48, 54, 2, "met"), (53, 47, 0, "missed")],
)
def test_no_worse_is_wrong_in_at_most_5_percent(
    before: float, after: float, margin: float, wrong: str
) -> None:
    """At the edge of the margin, terms with the spread of the released predictions."""
    rng = np.random.default_rng(5)
    sets, terms = 2000, 30
    effects = rng.normal(0, 5, (sets, terms))
    first = before - 50 + effects + rng.normal(0, 4, (sets, terms))
    second = after - 50 + effects + rng.normal(0, 4, (sets, terms))
    errors = 0
    for a, b in zip(first, second, strict=True):
        means = StudentMean.of(b - a), StudentMean.of(b + a)
        errors += worsening(difference(50 + a.mean(), 50 + b.mean(), *means), margin) == wrong
    assert errors / sets <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / sets)


def test_the_helper_for_pytest_says_what_is_open(runs: Path, tmp_path: Path) -> None:
    file = bars(tmp_path, '[[bars]]\nrequire = "lms>=90"')
    check_bars(runs / "ideal", bars=file)
    with pytest.raises(AssertionError, match=r"missed: lms>=90: .* random\)"):
        check_bars(runs / "random", bars=file)
    open_bars = bars(tmp_path, '[[bars]]\nrequire = "|ss-50|<=1"')
    with pytest.raises(AssertionError, match="undecided"):
        check_bars(runs / "random", bars=open_bars)
    check_bars(runs / "random", bars=open_bars, undecided=True)
