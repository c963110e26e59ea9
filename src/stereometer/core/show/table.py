"""A table as plain data: what the terminal, the page and the exports render."""

from __future__ import annotations

from dataclasses import dataclass, replace
from unicodedata import east_asian_width


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
    spare: int = 0
    """Of a column's head: the larger, the sooner its column is left out of a narrow table. Of
    columns with the same number the last goes first; the first column of a table always stays."""

    @property
    def stacked(self) -> Cell:
        """A number with what is in brackets after it, such as its interval, on a line below."""
        value, mark, rest = self.text.partition(" [" if " [" in self.text else " (ideal")
        if not self.numeric or not mark:
            return self
        return replace(self, text=value, lines=(mark.lstrip() + rest, *self.lines))

    @property
    def least(self) -> int:
        """The columns of a terminal it needs: words may be wrapped, numbers may not."""
        every = (self.text, *self.lines)
        parts = every if self.numeric else [word for each in every for word in each.split(" ")]
        return max(map(_places, parts))


@dataclass(frozen=True)
class Table:
    """Rows under headed columns, with what must be read beside them."""

    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """The first cell heads its row."""
    caption: str = ""
    foot: str = ""
    narrow: Table | None = None
    """The table for a window that has no room for this one."""
    gap: int = 2
    """Between columns."""
    folded: bool = False
    """On a page behind a click."""


def fitted(table: Table, width: int) -> tuple[Table, tuple[str, ...]]:
    """The table without the columns that a terminal of this width has no room for, and their
    names."""
    kept, gap = list(range(len(table.columns))), table.gap
    every = (table.columns, *table.rows)
    least = [max(row[at].least for row in every) for at in kept]
    if table.narrow is not None and sum(least) + gap * (len(kept) - 1) > width:
        return fitted(table.narrow, width + gap - table.narrow.gap)
    for at in sorted(kept[1:], key=lambda at: (-table.columns[at].spare, -at)):
        if sum(least[each] + gap for each in kept) - gap <= width:
            break
        kept.remove(at)
    gone = (cell for at, cell in enumerate(table.columns) if at not in kept)
    dropped = tuple(" ".join((cell.text, *cell.lines)) for cell in gone)
    columns, *rows = (tuple(row[at] for at in kept) for row in every)
    return replace(table, columns=columns, rows=tuple(rows)), dropped


def widths(table: Table, width: int) -> list[int]:
    """The columns of a terminal that each column of a fitted table gets: the widest of those
    whose words can be wrapped give way first."""
    every = list(zip(table.columns, *table.rows, strict=True))
    least = [max(cell.least for cell in column) for column in every]
    taken = [
        max(_places(line) for cell in column for line in (cell.text, *cell.lines))
        for column in every
    ]
    for _ in range(sum(taken) + table.gap * (len(taken) - 1) - width):
        wide = [at for at, size in enumerate(taken) if size > least[at]]
        if not wide:
            break
        taken[max(wide, key=lambda at: taken[at])] -= 1
    return taken


def _places(line: str) -> int:
    """The columns of a terminal that a text takes: East Asian characters take two."""
    return sum(1 + (east_asian_width(character) in "WF") for character in line)


def text(value: str, *lines: str, spare: int = 0) -> Cell:
    return Cell(value, lines=lines, spare=spare)


def number(value: str, *lines: str, spare: int = 0) -> Cell:
    return Cell(value, numeric=True, lines=lines, spare=spare)
