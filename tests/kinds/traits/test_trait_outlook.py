"""A small design is told beforehand what it could show at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from stereometer.kinds.traits.metrics import outlook
from tests.builders.commands import call


@pytest.mark.parametrize(
    ("templates", "says"), [(1, "One template"), (3, "3 templates and 848"), (36, "None")]
)
def test_few_templates_could_show_little(templates: int, says: str) -> None:
    assert str(outlook(templates, 848, 0.95)).startswith(says)


def test_it_is_said_before_the_run(tmp_path: Path) -> None:
    choice = ("--groups", "man,woman", "--templates", "that,all,should")
    said = call("run", "abc", "-m", "fake", *choice, "--dry-run", "--out", tmp_path / "out")
    assert said.code == 0
    assert "32 tests: a score is beyond noise only if it is over 14 standard devi" in said.err
