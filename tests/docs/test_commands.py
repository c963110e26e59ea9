"""Every command that a page shows can be typed: its name and its options exist."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from stereometer.cli.app import app
from tests.docs.pages import DOCS, PAGES, text_of

BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^(?:\$ )?stereometer (.+)$", re.MULTILINE)
USAGE = "[OPTIONS]"


def commands(page: Path) -> list[str]:
    """Lines of code blocks that call the program, without what follows a pipe."""
    blocks = (block for block in BLOCK.findall(text_of(page)) if USAGE not in block)
    joined = "\n".join(blocks).replace("\\\n", " ")
    joined = re.sub(r"[\[\]]", "", joined)  # what may be left out is tried too
    return [re.split(r" [|>&] | 2?> ?| && ", line)[0] for line in LINE.findall(joined)]


@cache
def program() -> Any:
    return typer.main.get_command(app)


def parse(line: str) -> None:
    """Raises where a name or an option does not exist, or something required is missing."""
    words = shlex.split(line, comments=True)
    command = program()
    context = command.make_context("stereometer", [], resilient_parsing=True)
    while hasattr(command, "get_command") and words:
        name, words = words[0], words[1:]
        command = command.get_command(context, name)
        assert command is not None, f"no command {name}"
        context = typer.Context(command, info_name=name, parent=context)
    command.make_context(command.name, words, parent=context.parent)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands(page)], ids=lambda page: page.name
)
def test_the_commands_on_a_page_can_be_typed(page: Path) -> None:
    for line in commands(page):
        try:
            parse(line)
        except Exception as error:
            pytest.fail(f"{line}: {error}")


@pytest.mark.parametrize("line", ["study nw survey s", "study check s --witin 5", "study new"])
def test_a_wrong_command_would_be_seen(line: str) -> None:
    with pytest.raises(Exception, match=r".*"):
        parse(line)


def test_the_tutorial_of_studies_has_commands() -> None:
    assert len(commands(DOCS / "studies.md")) > 10


def test_the_reference_has_examples() -> None:
    assert len(commands(DOCS / "reference" / "commands.md")) > 50
