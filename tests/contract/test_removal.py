"""A wing can go: without its folder and the lines that name it, the rest works and says nothing of
it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REMOVED = ("board", "people", "sweep")
ROOMS = (*(f"tests/{room}" for room in ("core", "cli", "report")), "tests/wings")
"""Whose fast tests are run again. Kinds and models stand below the wings, which import-linter
checks; they are only collected."""
SLOW = ("mitigation", "training", "workers")
"""Wings whose tests fit models or start processes: they are only collected too."""
CONTRACTS = ("catalog", "exports", "hooks", "public_names", "verbs")
"""Those that hold of any set of wings; others read the pages about the whole product."""


def without(wings: tuple[str, ...], tree: Path) -> None:
    package = tree / "src" / "stereometer"
    for wing in wings:
        for folder in (package / "wings" / wing, tree / "tests" / "wings" / wing):
            shutil.rmtree(folder)
    one = rf"wings\.(?:{'|'.join(wings)})\b"
    _rewrite(package / "core" / "catalog.py", rf'^ +"[^"]+": \(?\s*"stereometer\.{one}[^,]*,\n')
    public = package / "__init__.py"
    names = re.findall(rf'^    "(\w+)": "{one}', public.read_text("utf-8"), re.MULTILINE)
    _rewrite(public, rf'^ +(?:from stereometer\.{one}.*|"\w+": "{one}.*)\n')
    _rewrite(public, rf'^    "(?:{"|".join(names)})",\n')
    commands = package / "cli" / "commands.toml"
    _rewrite(commands, rf'^\[[^\]]+\]\n(?:(?!\[).*\n)*?verb = "{one}.*\n(?:(?!\[).*\n?)*')
    _rewrite(commands, r"^\[([\w-]+)\]\n(?:(?!\[|verb).*\n)*(?=\[(?!\1\.))")  # empty groups


def _rewrite(file: Path, gone: str) -> None:
    file.write_text(re.sub(gone, "", file.read_text("utf-8"), flags=re.MULTILINE), "utf-8")


def passes(tree: Path, *words: str) -> None:
    """These tests of the tree do."""
    paths = os.pathsep.join((str(tree / "src"), str(tree)))
    own = {name: of for name, of in os.environ.items() if not name.startswith(("PYTEST", "SLIP"))}
    command = [sys.executable, "-m", "pytest", "-m", "not long", *words]
    done = subprocess.run(
        command,
        cwd=tree,
        env={**own, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


@pytest.mark.long
def test_three_wings_at_once_can_be_removed(tmp_path: Path) -> None:
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    without(REMOVED, tmp_path)
    named = re.compile(rf"wings\.(?:{'|'.join(REMOVED)})\b")
    files = [path for path in (tmp_path / "src").rglob("*") if path.suffix in (".py", ".toml")]
    assert [file for file in files if named.search(file.read_text("utf-8"))] == []
    passes(tmp_path, "--collect-only", *ROOMS, "tests/kinds", "tests/models")
    contracts = [f"tests/contract/test_{name}.py" for name in CONTRACTS]
    slow = [f"--ignore=tests/wings/{wing}" for wing in SLOW]
    passes(tmp_path, "-n", "2", *ROOMS, *contracts, *slow)
