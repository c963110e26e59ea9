"""lm-evaluation-harness and Inspect in an environment of their own: `.venv/harnesses`, which
`make test-long` makes, or the one that STEREOMETER_HARNESSES names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


def run_harness(name: str, *arguments: object, also: Path | None = None) -> str:
    """Gives the environment's interpreter these arguments, offline; what it printed."""
    folder = Path(os.environ.get("STEREOMETER_HARNESSES") or Path(sys.prefix) / "harnesses")
    python = folder / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{name} is not installed in {folder}: `make .venv/harnesses/ready`")
    paths = os.pathsep.join(map(str, filter(None, [SOURCE, also])))
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(
        [str(python), *map(str, arguments)],
        env={**os.environ, **offline, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
