"""`stereometer --help` answers at once because nothing heavy is imported until it is needed."""

from __future__ import annotations

import resource
import subprocess
import sys

from tests.builders.commands import PROGRAM

HEAVY = (
    "numpy",
    "scipy",
    "pydantic",
    "jinja2",
    "rich",
    "rich.table",
    "sqlite3",
    "platformdirs",
    "torch",
    "transformers",
)


def test_importing_the_command_line_imports_nothing_heavy() -> None:
    code = (
        f"import sys, stereometer.cli; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def seconds_of_help() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "Measure social stereotypes" in found.stdout
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_help_takes_less_than_three_tenths_of_a_second_of_processor_time() -> None:
    assert min(seconds_of_help() for _ in range(3)) < 0.3
