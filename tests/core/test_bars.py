"""Bars are held against the whole interval, on the side that they are about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stereometer.core.errors import UsageError
from stereometer.core.gate.bars import read_bar
from stereometer.core.stats.intervals import wilson_percent
from stereometer.core.types import Estimate


def estimate(value: float | None, low: float | None, high: float | None) -> Estimate:
    return Estimate("ss", {}, value, low, high, 10, 10, 0, 50.0)


@pytest.mark.parametrize(
    ("bar", "low", "high", "outcome"),
    [
        ("ss<=55", 48, 54.9, "met"),
        ("ss<=55", 48, 55, "met"),
        ("ss<55", 48, 55, "undecided"),
        ("ss<=55", 48, 56, "undecided"),
        ("ss<=55", 56, 60, "missed"),
        ("ss>=45", 46, 60, "met"),
        ("ss>=45", 44, 60, "undecided"),
        ("ss>=45", 30, 44, "missed"),
        ("|ss-50|<=5", 45, 55, "met"),
        ("|ss-50|<=5", 44, 52, "undecided"),
        ("|ss-50|<=5", 40, 60, "undecided"),
        ("|ss-50|<=5", 56, 60, "missed"),
        ("|ss-50|<=5", 40, 44, "missed"),
        ("|ss-50|>5", 56, 60, "met"),
        ("|ss-50|>=5", 48, 60, "undecided"),
        (" | ss - 50 | <= 5 ", 46, 54, "met"),
    ],
)
def test_the_whole_interval_decides(bar: str, low: float, high: float, outcome: str) -> None:
    assert read_bar(bar).outcome(estimate((low + high) / 2, low, high)) == outcome


def test_the_value_alone_only_where_asked() -> None:
    wide = estimate(54.0, 40.0, 68.0)
    assert read_bar("ss<=55").outcome(wide) == "undecided"
    assert read_bar("point(ss)<=55").outcome(wide) == "met"
    assert read_bar("point(|ss-50|)<=3").outcome(wide) == "missed"


@pytest.mark.parametrize("bar", ["ss<=51", "|ss-50|<=5", "ss>=50", "point(ss)<=51"])
def test_what_ties_leave_undetermined_decides_no_bar(bar: str) -> None:
    tied = replace(estimate(None, None, None), least=10.0, most=90.0)
    assert read_bar(bar).outcome(tied) == "undecided"


def test_no_value_misses_and_no_interval_leaves_open() -> None:
    assert read_bar("ss<=55").outcome(estimate(None, None, None)) == "missed"
    assert read_bar("ss<=55").outcome(estimate(50.0, None, None)) == "undecided"
    assert read_bar("point(ss)<=55").outcome(estimate(50.0, None, None)) == "met"


@pytest.mark.parametrize("bar", ["ss<=55", "|ss-50|<=5", "point(ss)<=55", "point(|ss-50|)<5"])
def test_a_bar_reads_as_it_was_written(bar: str) -> None:
    assert str(read_bar(bar)) == bar


@pytest.mark.parametrize("bar", ["ss", "ss=55", "|ss-50<=5", "point(ss<=55", "ss)<=55", "<=5"])
def test_anything_else_is_refused(bar: str) -> None:
    with pytest.raises(UsageError, match="is not understood"):
        read_bar(bar)


@pytest.mark.parametrize(("bar", "true"), [("ss<=55", 55.0), ("|ss-50|<=5", 55.0), ("ss>=45", 45)])
def test_a_model_at_the_bar_seldom_meets_or_misses_it(bar: str, true: float) -> None:
    """The interval leaves the true value out on one side in one of forty sets."""
    draw = np.random.default_rng(1)
    outcomes = []
    for wins in draw.binomial(400, true / 100, size=4000):
        value = 100 * float(wins) / 400
        row = estimate(value, *wilson_percent(value, 400, 0.95))
        outcomes.append(read_bar(bar).outcome(row))
    assert outcomes.count("met") / len(outcomes) <= 0.035
    assert outcomes.count("missed") / len(outcomes) <= 0.035
