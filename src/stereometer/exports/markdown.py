"""Texts of others in Markdown: they stand where they are put, and mean nothing there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stereometer.show.control import visible

MEANT = re.compile(r"([\\`*<|]|\](?=[(\[:]))")
"""What begins code, emphasis, HTML or a cell, or ends the words of a link."""


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


def plain(text: str) -> str:
    """The text as text; an interval in brackets is none of what could be mistaken."""
    return MEANT.sub(r"\\\1", one_line(text))


def code(text: str) -> str:
    """A text within a line as code, which no escape is read in."""
    return f"`{one_line(text).replace('`', chr(39))}`"


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(plain, cells))} |"
