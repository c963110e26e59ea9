"""Copies of a study's database: a backup while it is served, and the way to PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, func, select, text

from stereometer.errors import UsageError
from stereometer.studies.database.connect import FILE, open_database
from stereometer.studies.database.tables import answers, metadata


def backup_sqlite(folder: Path, to: Path) -> None:
    """A consistent copy, whole under its name or not there."""
    if to.exists():
        raise UsageError(f"{to} exists. A backup never replaces another. Choose another name.")
    part = to.with_name(f".{to.name}.part")
    with closing(sqlite3.connect(folder / FILE)) as source, closing(sqlite3.connect(part)) as copy:
        source.backup(copy)
    os.replace(part, to)


def move_to(folder: Path, url: str) -> int:
    """Every row, in one transaction; refused where the other database holds any."""
    with (
        closing(open_database(folder)) as source,
        closing(open_database(folder, url)) as target,
        source.read() as reading,
        target.write() as writing,
    ):
        return _copied(reading, writing)


def _copied(reading: Connection, writing: Connection) -> int:
    if writing.execute(select(func.count()).select_from(answers)).scalar():
        raise UsageError(
            "The PostgreSQL database already holds answers. A study is moved to an empty one. "
            "Name another."
        )
    count = 0
    for table in metadata.sorted_tables:
        rows = [row._asdict() for row in reading.execute(select(table))]
        if rows:
            writing.execute(table.insert(), rows)
        count += len(rows)
    _number_on(writing)
    return count


def _number_on(connection: Connection) -> None:
    """Let new answers be numbered after those that were copied."""
    connection.execute(
        text(
            "SELECT setval(pg_get_serial_sequence('answers', 'number'), "
            "(SELECT coalesce(max(number), 1) FROM answers))"
        )
    )
