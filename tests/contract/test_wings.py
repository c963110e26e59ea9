"""The core stands alone: without a wing and its lines in the catalog, it lists and measures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree

import pytest

from tests.docs.pages import ROOT

SOURCE = ROOT / "src" / "stereometer"
LEFT_OUT = ignore_patterns("__pycache__", "*.safetensors", "vendor")
NEEDED = {"packs", "mitigation"}
"""The run is on benchmarks of the first; comparisons still import the second."""
WINGS = sorted(
    path.name for path in (SOURCE / "wings").iterdir() if (path / "__init__.py").exists()
)


def without(wings: list[str], place: Path) -> Path:
    """A copy of the package that lacks wings and their lines in the catalog."""
    copytree(SOURCE, place / "stereometer", ignore=LEFT_OUT)
    catalog = place / "stereometer" / "core" / "catalog.py"
    lines = catalog.read_text("utf-8").splitlines(keepends=True)
    for wing in wings:
        rmtree(place / "stereometer" / "wings" / wing)
        lines = [line for line in lines if f"wings.{wing}" not in line]
    catalog.write_text("".join(lines), "utf-8")
    return place


def said(place: Path, *words: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-m", "stereometer", *words],
        env={**os.environ, "PYTHONPATH": str(place), "STEREOMETER_CACHE": str(place / "cache")},
        cwd=place,
        text=True,
        capture_output=True,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_help_is_complete_without_any_wing(tmp_path: Path) -> None:
    help_page = said(without(WINGS, tmp_path), "--help")
    assert "  compare " in help_page
    assert "  study " not in help_page


@pytest.mark.long
@pytest.mark.parametrize("wing", [wing for wing in WINGS if wing not in NEEDED])
def test_a_run_is_possible_without(wing: str, tmp_path: Path) -> None:
    place = without([wing], tmp_path)
    said(place, "run", "starter", "--model", "random", "--limit", "4", "--out", "runs")
    said(place, "compare", "runs")
    said(place, "list")
