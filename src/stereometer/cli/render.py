"""Views and JSON on standard output: the one place where a command prints."""

from __future__ import annotations

import json as jsons
import os
import sys
from typing import TYPE_CHECKING, Any

from stereometer.cli.guard import say
from stereometer.core.files import to_json
from stereometer.core.show.control import visible
from stereometer.core.show.table import Table, fitted, widths
from stereometer.core.show.view import Paragraph, View, aside, heading
from stereometer.core.types.shown import Told

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod


PIPE_WIDTH = 200
"""Tables in a pipe are not squeezed into 80 columns."""


def show(value: Any, json: bool = False, **ways: bool) -> None:
    """What a verb returned: as JSON or as its view, where it has one; then what there is to say of
    it."""
    if json:
        print_json(value.as_json())
        if isinstance(value, Told):  # its document says the same
            return
    elif make := getattr(value, "view", None):
        print_view(make(**ways))
    for remark in getattr(value, "remarks", ()):
        say(remark)


def print_json(value: object) -> None:
    text = to_json(value)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a terminal that knows no more than ASCII
        text = jsons.dumps(value, indent=1)
    sys.stdout.write(text + "\n")


def print_view(view: View) -> None:
    console = _console()
    for piece in view.pieces():
        if isinstance(piece, Table):
            _table(console, piece)
        else:
            _paragraph(console, piece)


def _console() -> Console:
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            """rich would exit with 1; `guarded` knows that a reader who leaves is no failure."""
            raise BrokenPipeError

    shown = any(stream and stream.isatty() for stream in (sys.stdout, sys.__stdout__))
    free = not shown and "COLUMNS" not in os.environ
    return Piped(highlight=False, width=PIPE_WIDTH if free else None)


def _paragraph(console: Console, shown: Paragraph) -> None:
    from rich.text import Text

    if shown.talk:
        say("".join(text for text, _ in shown.spans))
        return
    spans = ((visible(text), "bold" if bold else "") for text, bold in shown.spans)
    style = "dim" if shown.quiet else None
    console.print(Text.assemble(*spans), style=style, soft_wrap=shown.whole)


def _table(console: Console, data: Table) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

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
    gone = [f"No room for: {', '.join(dropped)}. A wider window or --json shows them."]
    for under in (*(gone if dropped else ()), *([shown.foot] if shown.foot else ())):
        for each in aside(under):
            _paragraph(console, each)
