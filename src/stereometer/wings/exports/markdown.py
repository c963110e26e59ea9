"""Views as Markdown. Texts of others stand where they are put, and mean nothing there."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from stereometer.core.show.control import visible
from stereometer.core.show.table import Cell, Table
from stereometer.core.show.view import View

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


def lines(view: View) -> Iterator[str]:
    """The title, then paragraphs and tables, with an empty line after each."""
    if view.title:
        yield from (f"## {plain(view.title)}", "")
    parts = (part.pieces() if isinstance(part, View) else (part,) for part in view.parts)
    for piece in chain.from_iterable(parts):
        if isinstance(piece, Table):
            yield from (*table_lines(piece), "")
        else:
            yield from (plain("".join(text for text, _ in piece.spans)), "")


def table_lines(table: Table) -> Iterator[str]:
    """With all there is in a cell in one line."""
    if table.caption:
        yield from (f"**{plain(table.caption)}**", "")
    yield row([one_cell(cell) for cell in table.columns])
    yield row(["--:" if cell.numeric else "---" for cell in table.columns])
    yield from (row([one_cell(cell) for cell in cells]) for cells in table.rows)
    if table.foot:
        yield from ("", plain(table.foot))


def one_cell(cell: Cell) -> str:
    return "; ".join(filter(None, (cell.text, *cell.lines)))
