"""Without a wing and its lines in the catalog the product works, and its other tests pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import copy, copytree, ignore_patterns, rmtree

import pytest

from tests.docs.pages import ROOT

SOURCE = ROOT / "src" / "stereometer"
LEFT_OUT = ignore_patterns("__pycache__", "*.safetensors")
NEEDED = {"packs"}
"""Of a benchmark in the run."""
WINGS = sorted(
    path.name for path in (SOURCE / "wings").iterdir() if (path / "__init__.py").exists()
)


def without(wings: list[str], place: Path) -> Path:
    """A copy of the package that lacks wings and their lines in the catalog."""
    package = place / "src" / "stereometer"
    copytree(SOURCE, package, ignore=LEFT_OUT)
    catalog = package / "core" / "catalog.toml"
    lines = catalog.read_text("utf-8").splitlines(keepends=True)
    for wing in wings:
        rmtree(package / "wings" / wing)
        lines = [line for line in lines if f"wings.{wing}" not in line]
    catalog.write_text("".join(lines), "utf-8")
    return place


def said(place: Path, *words: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-m", "stereometer", *words],
        env={
            **os.environ,
            "PYTHONPATH": str(place / "src"),
            "STEREOMETER_CACHE": str(place / "cache"),
        },
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
    models = ("--model", "random", "--model", "fake")
    said(place, "run", "starter", *models, "--limit", "4", "--out", "runs")
    said(place, "compare", "runs")
    if wing != "look":
        said(place, "list")


THREE = ["board", "mitigation", "people"]
QUICK = ("test_public_names.py", "test_verbs.py")
OTHERS = ("tests/contract", "tests/cli", "tests/core", "tests/kinds", "tests/report", "tests/wings")
NOT_OTHERS = (
    *("test_wings.py", "test_without_a_wing.py"),  # these tests
    *("test_readme.py", "test_benches.py", "test_makefile.py", "test_wheel.py"),
    "test_container.py",
)
"""Pages that show the wing, and files that no copy has."""


def pass_without(place: Path, wings: list[str], *paths: str) -> None:
    """The other tests, in the copy."""
    for name in ("tests", "docs", "bench"):
        copytree(ROOT / name, place / name, ignore=ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        copy(ROOT / name, place)
    for wing in wings:
        rmtree(place / "tests" / "wings" / wing)
    left_out = [f"--ignore-glob=*/{name}" for name in NOT_OTHERS]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "not long", "-x", *left_out, *paths],
        env={**_uncounted(), "PYTHONPATH": str(place / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=place,
        text=True,
        capture_output=True,
    )
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-2000:]


def _uncounted() -> dict[str, str]:
    """Without what tells pytest to count the lines that these tests run."""
    return {name: value for name, value in os.environ.items() if "SLIPCOVER" not in name}


def test_the_catalog_holds_without_three_wings(tmp_path: Path) -> None:
    pass_without(without(THREE, tmp_path), THREE, *(f"tests/contract/{name}" for name in QUICK))


@pytest.mark.long
def test_all_other_tests_pass_without_three_wings(tmp_path: Path) -> None:
    pass_without(without(THREE, tmp_path), THREE, *OTHERS)


VERBS = """
from stereometer.core.options import verb
from stereometer.core.types.shown import Told

@verb
def greet() -> Told:
    \"\"\"Greet.\"\"\"
    return Told("Hello.", schema="greeting@1")
"""
DECLARED = """
[greet]
heading = "Look"
verb = "verbs:greet"
about = "Greet whoever asks."
"""


def theirs(place: Path, points: str) -> None:
    """Another package, installed as far as its entry points go."""
    known = place / "theirs-1.dist-info"
    known.mkdir()
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n", "utf-8")
    (known / "entry_points.txt").write_text(points, "utf-8")


def test_another_package_adds_a_command_and_a_broken_one_costs_a_warning(tmp_path: Path) -> None:
    place, package = without([], tmp_path), tmp_path / "theirs"
    package.mkdir()
    for name, text in (("__init__.py", ""), ("verbs.py", VERBS), ("commands.toml", DECLARED)):
        (package / name).write_text(text, "utf-8")
    theirs(place, "[stereometer.commands]\ngreet = theirs\nbroken = nowhere\n")
    assert "greet        Greet whoever asks." in said(place, "--help")
    assert "greeting@1" in said(place, "greet", "--json")


@pytest.mark.parametrize("kind", ["addendum", "wrapper", "benchmark", "method", "backend", "model"])
def test_whatever_of_another_package_is_broken_the_rest_works(kind: str, tmp_path: Path) -> None:
    place = without([], tmp_path)
    theirs(place, f"[stereometer.{kind}s]\nbroken = nowhere:thing\n")
    said(place, "run", "starter", "-m", "random", "-m", "fake", "--limit", "4", "--out", "runs")
    said(place, "compare", "runs")
    said(place, "report", "runs", "-o", "report.html")
    said(place, "list")
