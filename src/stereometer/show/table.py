"""A table as plain data: what the terminal, the page and the exports render."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table."""

    text: str
    numeric: bool = False
    """Numbers stand to the right."""
    lines: tuple[str, ...] = ()
    """Smaller, below."""
    system: int | None = None
    """The number of the system whose mark stands before the text, on a page that draws marks."""


@dataclass(frozen=True)
class Table:
    """Rows under headed columns, with what must be read beside them."""

    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """The first cell heads its row."""
    caption: str = ""
    foot: str = ""


def text(value: str, *lines: str) -> Cell:
    return Cell(value, lines=lines)


def number(value: str, *lines: str) -> Cell:
    return Cell(value, numeric=True, lines=lines)
