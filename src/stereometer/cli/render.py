"""Tables, headings, notes and JSON on standard output; or collected, for `print` in Python and for
notebooks."""

from __future__ import annotations

import json as jsons
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from stereometer.files import to_json
from stereometer.show.control import visible
from stereometer.show.table import Cell, Table, fitted, number, text, widths
from stereometer.types import Result

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod

    from stereometer.runs.stored import Run
    from stereometer.shapes.overview import Overview


PIPE_WIDTH = 200
"""Tables in a pipe are not squeezed into 80 columns."""


Piece: TypeAlias = "Table | tuple[str | tuple[str, str], ...]"
"""A table, or a paragraph of texts and texts with their style."""
COLLECTED: ContextVar[list[Piece] | None] = ContextVar("collected", default=None)


@contextmanager
def collected() -> Iterator[list[Piece]]:
    """What is printed meanwhile, as plain data and not on standard output."""
    pieces: list[Piece] = []
    before = COLLECTED.set(pieces)
    try:
        yield pieces
    finally:
        COLLECTED.reset(before)


def print_json(value: object) -> None:
    text = to_json(value)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a terminal that knows no more than ASCII
        text = jsons.dumps(value, indent=1)
    sys.stdout.write(text + "\n")


def _console() -> Console:
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            """rich would exit with 1; `guarded` knows that a reader who leaves is no failure."""
            raise BrokenPipeError

    shown = any(stream and stream.isatty() for stream in (sys.stdout, sys.__stdout__))
    free = not shown and "COLUMNS" not in os.environ
    return Piped(highlight=False, width=PIPE_WIDTH if free else None)


def _print(content: object, style: str = "", soft_wrap: bool = False) -> None:
    _console().print(content, style=style or None, soft_wrap=soft_wrap)


def line(words: str = "", bold: str = "", soft_wrap: bool = False) -> None:
    """Text as it stands, after what is bold."""
    _spans((bold, "bold"), words, soft_wrap=soft_wrap)


def heading(*parts: str, bold: int = 1) -> None:
    """Parts in a row, the first of them bold."""
    spans: list[str | tuple[str, str]] = ["\n"]
    for index, part in enumerate(parts):
        spans += [" · "] * bool(index) + [(part, "bold" if index < bold else "")]
    _spans(*spans)


def _spans(*spans: str | tuple[str, str], style: str = "", soft_wrap: bool = False) -> None:
    """Text, or text and its style; brackets in it are no markup."""
    from rich.text import Text

    if (pieces := COLLECTED.get()) is not None:
        pieces.append(spans)
        return
    shown = [
        visible(span) if isinstance(span, str) else (visible(span[0]), span[1]) for span in spans
    ]
    _print(Text.assemble(*shown), style, soft_wrap)


def notes(lines: Iterable[str]) -> None:
    for note in lines:
        line(f"  note: {note}")


def aside(*lines: str) -> None:
    """What stands under a table, less prominent."""
    if lines:
        _spans("\n".join(lines), style="dim")


def bullets(title: str, lines: Sequence[str]) -> None:
    if lines:
        line(bold=title)
        for each in lines:
            line(f"  - {each}")


# --------------------------------------------------------------------------------------- tables


def table(data: Table) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    if (pieces := COLLECTED.get()) is not None:
        pieces.append(data)
        return
    shown, dropped = fitted(data, _console().width - data.gap)
    room = _console().width - shown.gap  # rich reserves the gap after the last column too
    if data.caption:
        heading(data.caption)
    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, shown.gap, 0, 0))
    for column, width in zip(shown.columns, widths(shown, room), strict=True):
        side: JustifyMethod = "right" if column.numeric else "left"
        head = Text(visible("\n".join((column.text, *column.lines))))
        grid.add_column(head, justify=side, no_wrap=column.numeric, width=width)
    for row in shown.rows:
        grid.add_row(*(Text(visible("\n".join((cell.text, *cell.lines)))) for cell in row))
    _print(grid)
    if dropped:
        aside(f"No room for: {', '.join(dropped)}. A wider window or --json shows them.")
    if shown.foot:
        aside(shown.foot)


def records(rows: Sequence[Mapping[str, Any]], spare: Sequence[str] = ()) -> None:
    """A table of records: texts to the left, numbers to the right, blank if not known; `spare`
    names the columns that a narrow terminal goes without, the last of them first."""
    if rows:
        order = {name: at for at, name in enumerate(spare, 1)}
        heads = [
            (text if isinstance(value, str) else number)(name, spare=order.get(name, 0))
            for name, value in rows[0].items()
        ]
        body = (tuple(map(_cell, row.values())) for row in rows)
        table(Table(tuple(heads), tuple(body)))


def _cell(value: Any) -> Cell:
    if value is None:
        return text("")
    return text(f"{value:.2f}" if isinstance(value, float) else str(value))


# -------------------------------------------------------------------------------------- results


def results(every: Sequence[Result], slices: bool = False) -> None:
    """Those measured alike in one table; what to beware of comes last. Without `slices`, the
    principal ones alone, and a line that says which there are."""
    from stereometer import catalog
    from stereometer.findings.compare import family_notes
    from stereometer.shapes.overview import first_rows, left_out

    every_note: list[str] = []
    for group in _side_by_side(every):
        first, shape = group[0], catalog.shape(group[0].kind)
        shown = shape.overview(group if slices else [first_rows(shape, each) for each in group])
        title, variant = shown.title or first.data["title"], f"variant {first.variant}"
        asked = (first.asked_as,) if first.asked_as else ()
        if len(group) > 1:
            heading(title, first.measure, variant, *asked, *shown.remarks)
        else:
            measured = (first.measure, variant, first.scoring, *asked, *shown.remarks)
            heading(title, first.model, *measured, bold=2)
        overview(shown)
        if others := dict.fromkeys(each.measure for each in group if each.measure != first.measure):
            aside(f"Constructed: made from the gold labels alone; stored as {', '.join(others)}.")
        if not slices and (more := left_out(shape, first)):
            aside(more)
        every_note += [note for result in group for note in result.notes]
        every_note += family_notes(group)
    notes(dict.fromkeys(every_note))


def _side_by_side(every: Sequence[Result]) -> list[list[Result]]:
    """Those measured alike; what was made from the gold labels stands beside all of its kind."""
    groups: dict[tuple[object, ...], list[Result]] = {}
    for at, result in enumerate(sorted(every, key=lambda each: each.scoring == "constructed")):
        items = (result.data["digest"], result.variant, result.kind)
        alone = at if result.stopped is not None else None
        own = (*items, result.measure, result.asked_as, alone)
        constructed = result.scoring == "constructed"
        beside = [place for place in groups if constructed and place[:3] == items]
        for place in beside or [own]:
            groups.setdefault(place, []).append(result)
    return list(groups.values())


def result(single: Result, slices: bool = False) -> None:
    results([single], slices)


def run(stored: Run, slices: bool = False) -> None:
    results([stored.result], slices)


def overview(shown: Overview) -> None:
    for each in shown.tables:
        table(each)
    aside(*shown.legend)
