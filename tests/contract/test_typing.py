"""What a user's type checker sees of the public verbs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")

USE = """
import stereometer
from stereometer import compare, load, run

results = run("starter", model="random", seed=1)
for result in results:
    preference = result.estimate("ss")
    if preference.value is not None:
        print(f"{preference.value:.1f} {preference.verdict}")
rows = results[0].rows()
again = load("runs/one")
found = compare("runs/one", "runs/two")
print(again.kind, len(found.pairs), rows[0]["name"])
reveal_type(stereometer.replay)
page = stereometer.write_report(["runs/one"])
print(page.name, stereometer.open_benchmark("starter").digest)
"""


def checked(tmp_path: Path, code: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "use.py"
    file.write_text(code)
    source = Path(__file__).parents[2] / "src"
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(file)]
    environment = os.environ | {"MYPYPATH": str(source)}
    return subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )


def test_ten_lines_of_use_are_typed(tmp_path: Path) -> None:
    ran = checked(tmp_path, USE)
    errors = [line for line in ran.stdout.splitlines() if "use.py" in line and "error" in line]
    assert errors == []
    assert "Result" in ran.stdout, "the verb's own type is seen, not Any or object"


def test_a_slip_is_an_error(tmp_path: Path) -> None:
    ran = checked(tmp_path, 'from stereometer import run\nrun("starter", modle="random")\n')
    assert "modle" in ran.stdout
