"""A slice of few items or terms is told beforehand what it could show at all."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import stereometer
from stereometer.core.shapes.preference import small_slices
from tests.builders.commands import call


def items(name: str, number: int, terms: int = 0) -> list[tuple[str, str | None]]:
    return [(name, f"term {at % terms}" if terms else None) for at in range(number)]


def test_two_terms_stand_for_themselves_and_seven_items_for_nothing() -> None:
    """With 80 % power seven show a difference of 53 points, and no score is that far off."""
    few = "gender (40 items of 2 terms) could show 22 points from 50, for these terms alone"
    assert small_slices([*items("age", 24, 4), *items("gender", 40, 2)], 0.95) == (
        f"Small slices: {few}."
    )
    assert small_slices(items("age", 7), 0.95) == (
        "Small slices: age (7 items) has too few items to show an effect."
    )
    assert small_slices([*items("age", 24, 4), *items("gender", 8)], 0.95) is None


def test_many_small_slices_are_counted() -> None:
    said = small_slices([(name, None) for name in "abcde"], 0.95)
    assert said is not None
    assert said.endswith("; and 2 more.")


def test_it_is_said_before_the_run_on_the_command_line(tmp_path: Path) -> None:
    said = call("run", "starter", "-m", "fake", "--limit", 5, "--dry-run", "--out", tmp_path)
    assert said.code == 0
    assert said.err.count("Small slices: ") == 2
    assert "has too few items to show an effect" in said.err


def test_it_is_said_in_python(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "stereometer"):
        stereometer.run("starter", model="fake", limit=5, resamples=100, out=tmp_path)
    assert "Small slices: " in caplog.text
