"""`stereometer --help` answers at once because nothing heavy is imported until it is needed."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

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

MOST_TIMES = 7
"""Importing typer takes about a tenth of a second: help stays well under half a second."""


def test_importing_the_command_line_imports_nothing_heavy() -> None:
    code = (
        f"import sys, stereometer.cli; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def processor_seconds(*command: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.long
def test_help_costs_little_more_than_the_library_it_is_made_with() -> None:
    """As a ratio, interleaved, the least of several: a busy machine slows both."""
    rounds = [
        (
            processor_seconds(PROGRAM, "--help"),
            processor_seconds(sys.executable, "-c", "import typer.main"),
        )
        for _ in range(5)
    ]
    ours, library = (min(seconds) for seconds in zip(*rounds, strict=True))
    assert ours < MOST_TIMES * library
