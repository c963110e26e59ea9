"""Copies of a study's database: a backup while it is served, and the way to PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
import time
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
    part.touch(0o600)
    with closing(sqlite3.connect(folder / FILE)) as source, closing(sqlite3.connect(part)) as copy:
        source.backup(copy)
    os.replace(part, to)


def restore_sqlite(folder: Path, copy: Path) -> Path:
    """Put a backup in place of the database, which is kept beside it; its new name."""
    _check_is_study(copy)
    current, aside = folder / FILE, folder / f"before-{time.strftime('%Y%m%d-%H%M%S')}.sqlite"
    if current.exists():
        check_is_free(current)
        backup_sqlite(folder, aside)
    part = folder / f".{FILE}.part"
    part.touch(0o600)
    with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
    for helper in ("-wal", "-shm"):  # those of the old database would be read into the new one
        (folder / f"{FILE}{helper}").unlink(missing_ok=True)
    os.replace(part, current)
    return aside


def _check_is_study(copy: Path) -> None:
    try:
        with closing(sqlite3.connect(f"file:{copy}?mode=ro", uri=True)) as raw:
            (sound,) = raw.execute("PRAGMA integrity_check").fetchone()
            raw.execute("SELECT count(*) FROM answers, participants")
    except sqlite3.Error as error:
        sound = str(error)
    if sound != "ok":
        raise UsageError(
            f"{copy} is not a whole backup of a study: {sound}. Nothing was changed. "
            "Name a file that `stereometer study backup` wrote."
        )


def check_is_free(path: Path) -> None:
    """Raises while another process has the database open."""
    try:
        with closing(sqlite3.connect(path, timeout=0)) as raw:
            raw.execute("PRAGMA locking_mode=EXCLUSIVE")
            raw.execute("BEGIN EXCLUSIVE")
            raw.execute("ROLLBACK")
    except sqlite3.OperationalError:
        raise UsageError(
            f"{path} is in use. Answers that come in now would be lost. Stop the server first."
        ) from None


def move_to(folder: Path, url: str) -> int:
    """Every row, in one transaction; refused where the other database holds any."""
    check_is_free(folder / FILE)
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
