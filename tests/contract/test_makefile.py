"""What make remembers does not outlive what it remembers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

MAKEFILE = Path(__file__).parents[2] / "Makefile"
ADDS = """#!/bin/sh
mkdir -p "models/$3"
echo "$3" >> asked
echo "{\\"folder\\": \\"models/$3\\"}"
"""


def test_models_that_are_gone_are_added_again(tmp_path: Path) -> None:
    """With a command in place of ours, and everything else taken for installed."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    program = tmp_path / ".venv" / "bin" / "stereometer"
    program.write_text(ADDS)
    program.chmod(0o755)

    def asked() -> int:
        old = [word for name in ("pip", "run", "hf") for word in ("-o", f".venv/{name}")]
        subprocess.run(["make", "-f", MAKEFILE, *old, "models"], cwd=tmp_path, check=True)
        return len((tmp_path / "asked").read_text().splitlines())

    assert (asked(), asked()) == (2, 2)
    shutil.rmtree(tmp_path / "models" / "minilm-mlm")
    assert asked() == 4
