"""README's Python is run as written; its commands and links exist."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.commands import call

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_python_in_readme_does_what_it_says() -> None:
    failed, tried = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert tried > 8
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


COMMANDS = (
    *[
        "run",
        "align",
        "intersect",
        "replay",
        "compare",
        "report",
        "show",
        "list",
        "doctor",
        "ensemble",
        "relate",
        "terms",
        "study",
        "aggregate",
        "analyze",
    ],
    *["split", "audit", "ask", "calibrate", "export", "gate", "serve-model", "published"],
    *("board build", "board check", "board judge", "submit", "sweep"),
    *("mitigate leace", "mitigate inlp", "mitigate sentence-debias", "mitigate self-debias"),
    *("mitigate cda", "mitigate export"),
    "pack check",
    *("train nsp", "data add", "data pull", "data where", "cache info", "cache clear", "model add"),
)
NOT_COMMANDS = {"authors", "made", "measures", "must", "result", "spread"}
"""Words that follow the name in a sentence, and the command that a page adds."""


def test_every_command_that_the_docs_name_exists() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"stereometer (\w[\w-]*)", text)) - NOT_COMMANDS
    assert named <= {command.split()[0] for command in COMMANDS}
    for command in COMMANDS:
        assert call(*command.split(), "--help").code == 0, command


def test_readme_and_the_help_start_with_the_same_command() -> None:
    helped = subprocess.run(
        [sys.executable, "-m", "stereometer", "--help"], capture_output=True, text=True, check=True
    )
    (start,) = re.findall(r"Start with: (.+)", helped.stdout)
    assert start in (ROOT / "README.md").read_text(encoding="utf-8")
