"""A table as plain data: what the terminal, the page and the exports render."""

from __future__ import annotations

from dataclasses import dataclass, replace


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
    """Of a column's head: the larger, the sooner its column is left out of a narrow table."""

    @property
    def least(self) -> int:
        """The columns of a terminal it needs: words may be wrapped, numbers may not."""
        every = (self.text, *self.lines)
        parts = every if self.numeric else [word for each in every for word in each.split(" ")]
        return max(map(len, parts))


@dataclass(frozen=True)
class Table:
    """Rows under headed columns, with what must be read beside them."""

    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """The first cell heads its row."""
    caption: str = ""
    foot: str = ""


def fitted(table: Table, width: int, gap: int = 2) -> tuple[Table, tuple[str, ...]]:
    """The table without the columns that a terminal of this width has no room for, and their
    names."""
    kept = list(range(len(table.columns)))
    every = (table.columns, *table.rows)
    least = [max(row[at].least for row in every) for at in kept]
    spare = sorted(
        (at for at in kept if table.columns[at].spare), key=lambda at: -table.columns[at].spare
    )
    for at in spare:
        if sum(least[each] + gap for each in kept) - gap <= width:
            break
        kept.remove(at)
    dropped = tuple(cell.text for at, cell in enumerate(table.columns) if at not in kept)
    columns, *rows = (tuple(row[at] for at in kept) for row in every)
    return replace(table, columns=columns, rows=tuple(rows)), dropped


def text(value: str, *lines: str, spare: int = 0) -> Cell:
    return Cell(value, lines=lines, spare=spare)


def number(value: str, *lines: str, spare: int = 0) -> Cell:
    return Cell(value, numeric=True, lines=lines, spare=spare)
