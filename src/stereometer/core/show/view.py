"""What is shown of a value, as plain data: a terminal, a notebook, Markdown, the page and the board
render it, and know no kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from stereometer.core.show import numbers
from stereometer.core.show.figure import Figure, Fill, fill_of
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.types import Estimate


@dataclass(frozen=True)
class Paragraph:
    """Texts, and whether each is bold. Brackets in them are no markup."""

    spans: tuple[tuple[str, bool], ...]
    quiet: bool = False
    """Less prominent: what stands under a table."""
    whole: bool = False
    """A terminal does not break its lines, so that they can be copied."""
    talk: bool = False
    """A command says it on standard error: it is no result."""


@dataclass(frozen=True)
class Verdict:
    """What is said of one system, for a reader who reads only that, and the number it rests on."""

    system: int
    """Its number, which decides its mark."""
    estimate: Estimate
    headline: str
    sentences: tuple[str, ...] = ()
    """The result."""
    details: tuple[str, ...] = ()
    """Where it holds, what was published, what could not be scored."""
    unit: str = ""
    digits: int = 1

    @property
    def value(self) -> str:
        return numbers.value(self.estimate, self.digits)

    @property
    def fill(self) -> Fill:
        return fill_of(self.estimate)


@dataclass(frozen=True)
class View:
    title: str = ""
    subject: str = ""
    """Whom it is about, as prominent as the title."""
    about: tuple[str, ...] = ()
    """How it was measured; stands beside the title."""
    parts: tuple[Paragraph | Table | View, ...] = ()
    """As they are read."""
    verdicts: tuple[Verdict, ...] = ()
    """Of systems, on a page; in words a table says as much."""
    notes: tuple[str, ...] = ()
    """What to beware of; said under the title, and where there is none after all parts."""
    draw: Callable[[], Iterable[Figure]] = tuple

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Drawn when somebody looks."""
        return tuple(self.draw())

    @property
    def sentences(self) -> tuple[str, ...]:
        """The paragraphs as texts."""
        paragraphs = (part for part in self.parts if isinstance(part, Paragraph))
        return tuple("".join(text for text, _ in each.spans) for each in paragraphs)

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(part for part in self.parts if isinstance(part, Table))

    def pieces(self) -> Iterator[Piece]:
        """Paragraphs and tables, title and notes among them."""
        if self.title:
            strong = 2 if self.subject else 1
            yield heading(*filter(None, (self.title, self.subject)), *self.about, bold=strong)
            yield from notes(self.notes)
        for part in self.parts:
            if isinstance(part, View):
                yield from part.pieces()
            else:
                yield part
        if not self.title:
            yield from notes(self.notes)


Piece: TypeAlias = Paragraph | Table


def line(words: str = "", bold: str = "", whole: bool = False) -> Paragraph:
    """Text as it stands, after what is bold."""
    return Paragraph(((bold, True), (words, False)), whole=whole)


def heading(*parts: str, bold: int = 1) -> Paragraph:
    """Parts in a row, the first of them bold."""
    spans = [("\n", False)]
    for index, part in enumerate(parts):
        spans += [(" · ", False)] * bool(index) + [(part, index < bold)]
    return Paragraph(tuple(spans))


def notes(lines: Iterable[str]) -> Iterator[Paragraph]:
    return (line(f"  note: {note}") for note in lines)


def aside(*lines: str) -> Iterator[Paragraph]:
    """What stands under a table, less prominent."""
    if lines:
        yield Paragraph((("\n".join(lines), False),), quiet=True)


def bullets(title: str, lines: Sequence[str]) -> Iterator[Paragraph]:
    if lines:
        yield line(bold=title)
        yield from (line(f"  - {each}") for each in lines)


ENDS = 5
"""Rows shown from either end of a ranking."""


def extremes(rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [*rows[:ENDS], *rows[-ENDS:]] if len(rows) > 2 * ENDS else rows


def records(rows: Sequence[Mapping[str, Any]], spare: Sequence[str] = ()) -> Iterator[Table]:
    """A table of records: texts to the left, numbers to the right, blank if not known; `spare`
    names the columns that a narrow terminal goes without, the last of them first."""
    if rows:
        order = {name: at for at, name in enumerate(spare, 1)}
        heads = [
            (text if isinstance(value, str) else number)(name, spare=order.get(name, 0))
            for name, value in rows[0].items()
        ]
        yield Table(tuple(heads), tuple(tuple(map(_cell, row.values())) for row in rows))


def _cell(value: Any) -> Cell:
    if value is None:
        return text("")
    return text(f"{value:.2f}" if isinstance(value, float) else str(value))
