"""`show RUN` prints a stored run again, and asks no model."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from tests.builders.commands import call


def test_a_stored_run_is_shown_as_it_was_without_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = call("run", "starter", "-m", "fake", "--resamples", 100, "--out", tmp_path / "runs")
    assert measured.code == 0
    folders = sorted(file.parent for file in (tmp_path / "runs").rglob("result.json"))
    monkeypatch.setattr("stereometer.core.runs.open.open_model", _opened)
    assert folders
    for folder in folders:
        shown = call("show", folder)
        assert shown.code == 0, shown.err
        numbers = [line for line in shown.out.splitlines() if "[" in line]
        assert numbers
        assert set(numbers) <= set(measured.out.splitlines())


def _opened(*_: object) -> NoReturn:
    raise AssertionError("a model was opened")
