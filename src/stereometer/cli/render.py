"""Tables, headings, notes and JSON on standard output. The only module that knows rich."""

from __future__ import annotations

import json as jsons
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from stereometer.files import to_json
from stereometer.show.control import visible
from stereometer.show.table import Cell, Table, fitted, number, text, widths
from stereometer.types import Result

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod
    from rich.progress import Progress as Bars

    from stereometer.runs.runner import Progress
    from stereometer.shapes.overview import Overview


class Document(Protocol):
    def as_json(self) -> dict[str, Any]: ...


PIPE_WIDTH = 200
"""Tables in a pipe are not squeezed into 80 columns."""
GAP = 2
"""Between columns; rich reserves it after the last one too."""


def print_json(value: object) -> None:
    text = to_json(value)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a terminal that knows no more than ASCII
        text = jsons.dumps(value, indent=1)
    sys.stdout.write(text + "\n")


def document_or(json: bool, value: Document, tables: Callable[[], None]) -> None:
    """JSON where it is asked for, otherwise tables."""
    if json:
        print_json(value.as_json())
    else:
        tables()


def _console() -> Console:
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            """rich would exit with 1; `guarded` knows that a reader who leaves is no failure."""
            raise BrokenPipeError

    free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
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

    room = _console().width - GAP
    shown, dropped = fitted(data, room)
    if data.caption:
        heading(data.caption)
    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for column, width in zip(shown.columns, widths(shown, room), strict=True):
        side: JustifyMethod = "right" if column.numeric else "left"
        head = Text(visible(column.text))
        grid.add_column(head, justify=side, no_wrap=column.numeric, width=width)
    for row in shown.rows:
        grid.add_row(*(Text(visible("\n".join((cell.text, *cell.lines)))) for cell in row))
    _print(grid)
    if dropped:
        aside(f"No room for: {', '.join(dropped)}. A wider window or --json shows them.")
    if data.foot:
        aside(data.foot)


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


def results(every: Sequence[Result], side_by_side: bool = False) -> None:
    """Each result alone, or those measured alike in one table; what to beware of comes last."""
    from stereometer import catalog
    from stereometer.findings.compare import family_notes

    groups: dict[object, list[Result]] = {}
    for index, result in enumerate(every):
        alike = (result.data["digest"], result.measure, result.variant)
        alone = not side_by_side or result.stopped is not None
        groups.setdefault(index if alone else alike, []).append(result)
    every_note: list[str] = []
    for group in groups.values():
        first, shown = group[0], catalog.shape(group[0].kind).overview(group)
        title, variant = shown.title or first.data["title"], f"variant {first.variant}"
        if len(group) > 1:
            heading(title, first.measure, variant, *shown.remarks)
        else:
            measured = (first.measure, variant, first.scoring, *shown.remarks)
            heading(title, first.model, *measured, bold=2)
        overview(shown)
        every_note += [note for result in group for note in result.notes]
        every_note += family_notes(group)
    notes(dict.fromkeys(every_note))


def result(single: Result, json: bool) -> None:
    document_or(json, single, lambda: results([single]))


def several(every: Sequence[Result], json: bool, side_by_side: bool = False) -> None:
    if json:
        print_json({"schema": "runs@1", "results": [result.as_json() for result in every]})
    else:
        results(every, side_by_side)


def overview(shown: Overview) -> None:
    for each in shown.tables:
        table(each)
    aside(*shown.legend)


# ------------------------------------------------------------------------------------- progress


def _bars(remark: str = "") -> Bars:
    """Bars on a terminal, nothing in a pipe."""
    from rich import progress
    from rich.console import Console

    columns = (progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeRemainingColumn())
    title, remarks = progress.TextColumn("{task.description}"), progress.TextColumn(remark)
    console, hidden = Console(stderr=True), not sys.stderr.isatty()
    return progress.Progress(
        title, *columns, remarks, console=console, transient=True, disable=hidden
    )


@contextmanager
def watch(title: str) -> Iterator[Progress]:
    """What is called with the progress of a job: a bar on a terminal, else a line now and then."""
    if not sys.stderr.isatty():
        from stereometer.runs.progress import lines

        with lines(title) as progress:
            yield progress
        return
    with _bars("{task.fields[status]}") as bars:
        task = bars.add_task(title, total=None, status="")

        def progress(done: int, total: int, status: str = "") -> None:
            bars.update(task, completed=done, total=total, status=status)

        yield progress


@contextmanager
def training() -> Iterator[Callable[[str, int, int, str], None]]:
    """What is called with the progress of each phase, and how well it goes."""
    with _bars("{task.fields[how]}") as bars:
        tasks: dict[str, Any] = {}

        def update(phase: str, done: int, total: int, how: str) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(phase, total=total, how=how)
            bars.update(tasks[phase], completed=done, how=how)

        yield update
