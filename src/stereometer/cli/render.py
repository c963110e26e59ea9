"""Views on standard output. Imported when the first is shown: rich is slow to import."""

from __future__ import annotations

import os
import sys

from rich.console import Console, JustifyMethod
from rich.table import Table as Grid
from rich.text import Text

from stereometer.cli.guard import say
from stereometer.core.show.control import visible
from stereometer.core.show.table import Table, fitted, widths
from stereometer.core.show.view import Paragraph, View, aside, heading

PIPE_WIDTH = 200
"""Tables in a pipe are not squeezed into 80 columns."""


class Piped(Console):
    def on_broken_pipe(self) -> None:
        """rich would exit with 1; `guarded` knows that a reader who leaves is no failure."""
        raise BrokenPipeError


def print_view(view: View) -> None:
    shown = any(stream and stream.isatty() for stream in (sys.stdout, sys.__stdout__))
    free = not shown and "COLUMNS" not in os.environ
    console = Piped(highlight=False, width=PIPE_WIDTH if free else None)
    for piece in view.pieces():
        if isinstance(piece, Table):
            _table(console, piece)
        else:
            _paragraph(console, piece)


def _paragraph(console: Console, shown: Paragraph) -> None:
    if shown.talk:
        say("".join(text for text, _ in shown.spans))
        return
    spans = ((visible(text), "bold" if bold else "") for text, bold in shown.spans)
    style = "dim" if shown.quiet else None
    console.print(Text.assemble(*spans), style=style, soft_wrap=shown.whole)


def _table(console: Console, data: Table) -> None:
    shown, dropped = fitted(data, console.width - data.gap)
    room = console.width - shown.gap  # rich reserves the gap after the last column too
    if data.caption:
        _paragraph(console, heading(data.caption))
    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, shown.gap, 0, 0))
    for column, width in zip(shown.columns, widths(shown, room), strict=True):
        side: JustifyMethod = "right" if column.numeric else "left"
        head = Text(visible("\n".join((column.text, *column.lines))))
        grid.add_column(head, justify=side, no_wrap=column.numeric, width=width)
    for row in shown.rows:
        grid.add_row(*(Text(visible("\n".join((cell.text, *cell.lines)))) for cell in row))
    console.print(grid)
    gone = f"No room for: {', '.join(dropped)}. A wider window or --json shows them."
    for under in filter(None, (gone if dropped else "", shown.foot)):
        for each in aside(under):
            _paragraph(console, each)
