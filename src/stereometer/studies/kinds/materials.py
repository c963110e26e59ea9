"""The tables that a study is made of: something in every column, and no name twice."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from stereometer.errors import DataError
from stereometer.shapes.sentences import unique
from stereometer.tables import read_table


def read_materials(path: Path, columns: Sequence[str], noun: str) -> list[dict[str, str]]:
    """Rows whose first column is their name: answers are stored under it."""
    rows = []
    for line, row in read_table(path, columns):
        rows.append({**row, **{column: row[column].strip() for column in columns}})
        empty = [column for column in columns if not rows[-1][column]]
        if empty:
            raise DataError(
                f"{path}, line {line}: {empty[0]} is empty. People would see nothing in its place. "
                "Write it, or leave out the row."
            )
    unique((row[columns[0]] for row in rows), f"{path}: {noun}")
    return rows


def write_materials(path: Path, rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
