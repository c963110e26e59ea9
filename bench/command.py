"""The command line, called in this process as a shell would call it, and nothing else of the
package: what is measured through it may be rebuilt inside."""

from __future__ import annotations

import io
import json
import runpy
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def stereometer(words: Sequence[str]) -> Outcome:
    """`python -m stereometer WORDS`."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    argv = patch.object(sys, "argv", ["stereometer", *words])
    with argv, redirect_stdout(out), redirect_stderr(err):
        code = _code()
    return Outcome(code, _text(out), _text(err))


def _code() -> int:
    try:
        runpy.run_module("stereometer", run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    return 0


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode("utf-8")
