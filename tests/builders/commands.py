"""The command line, called in this process (quick) or in one of its own (as a shell would)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from stereometer.cli.app import app

PROGRAM = str(Path(sys.executable).with_name("stereometer"))


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON value and nothing else."""
        return json.loads(self.out)


def words(line: object = "", *more: object) -> list[str]:
    """The first argument may be several words, as in a shell; the others are one each."""
    return [*str(line).split(), *map(str, more)]


def filled(line: str, places: Mapping[str, object]) -> list[str]:
    """The words of a line, `{name}` in them replaced; for tables of command lines."""
    return [word.format_map(places) for word in line.split()]


def call(*arguments: object) -> Said:
    """In this process; an exception that would be a traceback fails the test."""
    found = CliRunner().invoke(app, words(*arguments))
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return Said(found.exit_code, found.stdout, found.stderr)


def shell(*arguments: object, **options: Any) -> Said:
    """In a process of its own."""
    found = subprocess.run(
        [PROGRAM, *words(*arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )
    return Said(found.returncode, found.stdout, found.stderr)


def assert_refused(said: Said, code: int, *parts: str) -> None:
    """The right exit code, one sentence of what is wrong, no traceback, nothing on standard
    output."""
    assert said.code == code, said.err
    assert any(line.startswith("error: ") for line in said.err.splitlines())
    assert "Traceback" not in said.err
    assert said.out == ""
    for part in parts:
        assert part in said.err
