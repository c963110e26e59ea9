"""The command where Python has nothing of POSIX: no locks, no fork, no flags, as on Windows."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import stereometer

SOURCE = Path(stereometer.__file__).parent
MODULES = "fcntl grp posix pty pwd resource syslog termios tty"
NAMES = {
    "os": "O_ASYNC O_CLOEXEC O_DIRECTORY O_DSYNC O_NOCTTY O_NOFOLLOW O_NONBLOCK O_SYNC WNOHANG"
    " chown fchmod fchown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getuid"
    " killpg lchown lockf mkfifo mknod nice openpty pread pwrite sched_getaffinity"
    " setgid setsid setuid statvfs sync ttyname wait wait3 wait4",
    "signal": "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 alarm setitimer",
    "socket": "AF_UNIX",
    "select": "poll",
}
BARE = f"""
import importlib.util, os, select, signal, socket, subprocess, sys, warnings

# Other packages ask which system this is, and take its own way.
import asyncio, multiprocessing.connection, numpy, platformdirs.unix, shutil, tempfile
if "ray" in sys.argv and importlib.util.find_spec("ray"):
    import ray
for name in {MODULES!r}.split():
    sys.modules[name] = None
for module, names in {NAMES!r}.items():
    for name in {{*names.split()}} - {{"SIGKILL"}}:  # subprocess needs it here
        vars(sys.modules[module]).pop(name, None)
warnings.filterwarnings("ignore", "only soft file lock")
"""
EVERYTHING = f"""
POSIX = {MODULES!r}.split()
from importlib import import_module
from pkgutil import walk_packages
import stereometer

for module in walk_packages(stereometer.__path__, "stereometer."):
    if module.name.rpartition(".")[2] in ("__main__", "env"):
        continue
    try:
        import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name.startswith("stereometer") or error.name in POSIX:
            raise
"""
"""Without what another program runs (`python -m`, Alembic), and what optional packages are missing
for."""


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in; every Python started there, workers included, has no POSIX."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BARE)
    path = [str(tmp_path / "site"), str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
    return tmp_path


def python(folder: Path, *arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_every_module_can_be_imported(bare: Path) -> None:
    python(bare, "-c", EVERYTHING, "ray")


@pytest.mark.long
def test_runs_a_comparison_and_a_report(bare: Path) -> None:
    def said(*arguments: str) -> str:
        return python(bare, "-m", "stereometer", *arguments)

    measure = ("--measure", "pair-sentence-likelihood", "--resamples", "100")
    said("run", "starter", "-m", "random", "--out", "random", *measure)
    said("run", "starter", "-m", "fake", "--out", "fake", "--workers", "2", *measure)
    assert "fake" in said("compare", "random", "fake")
    said("report", "random", "fake", "-o", "report.html")
    assert "</html>" in (bare / "report.html").read_text("utf-8")
    assert not list(bare.glob("**/*.part"))
    assert all(said(command) for command in ("list", "doctor", "--help"))


def test_nothing_of_posix_is_named() -> None:
    """Where it is asked for (`getattr`, `hasattr`) it is a text."""
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert node.attr not in NAMES.get(node.value.id, "").split(), file
            if isinstance(node, ast.Import):
                assert not {name.name for name in node.names} & {*MODULES.split()}, file
            if isinstance(node, ast.ImportFrom):
                banned = NAMES.get(node.module or "", "").split()
                assert not {name.name for name in node.names} & {*banned}, file
                assert node.module not in MODULES.split(), file
