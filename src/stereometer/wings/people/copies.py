"""Copies: a backup of the database while it is served, the way to PostgreSQL, and items in studies
where others judge them, from which who withdraws is taken out."""

import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import func, select, text

from stereometer.core.errors import UsageError
from stereometer.kinds.cats.items import Cat
from stereometer.kinds.pairs.items import Pair
from stereometer.wings.people.database import FILE, answers, metadata, open_database
from stereometer.wings.people.kinds.kind import WRITERS, Judging, StudySource, read_writers
from stereometer.wings.people.study import FOLDER as VERSIONS
from stereometer.wings.people.study import Study, copy_of, refreeze, versions_of

FILES = "frozen_files"
"""The table of a backup that holds the study's frozen copies."""


def backup_sqlite(folder: Path, to: Path) -> None:
    """A consistent copy, whole under its name or not there."""
    if to.exists():
        raise UsageError(f"{to} exists. A backup never replaces another. Choose another name.")
    part = _copied(folder / FILE, to)
    _enclose(part, folder / VERSIONS)  # after the rows: each has its copy before it is stored
    os.replace(part, to)


def _copied(source: Path, to: Path) -> Path:
    """A whole copy beside the place that it is for."""
    part = to.with_name(f".{to.name}.part")
    part.touch(0o600)
    with closing(sqlite3.connect(source)) as raw, closing(sqlite3.connect(part)) as copy:
        raw.backup(copy)
    return part


def _enclose(copy: Path, versions: Path) -> None:
    """Puts what people have read into the copy: answers mean nothing without it."""
    files = [(file, file.relative_to(versions).as_posix()) for file in versions.rglob("*")]
    rows = [(name, file.read_bytes()) for file, name in files if file.is_file()]
    with closing(sqlite3.connect(copy)) as raw, raw:
        raw.execute(f"DROP TABLE IF EXISTS {FILES}")
        raw.execute(f"CREATE TABLE {FILES} (name TEXT, content BLOB)")
        raw.executemany(f"INSERT INTO {FILES} VALUES (?, ?)", rows)


def _disclose(copy: Path, versions: Path) -> None:
    """Takes it out again, in place of what is there."""
    part = versions.with_name(f".{versions.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    with closing(sqlite3.connect(copy)) as raw, raw:
        for name, content in raw.execute(f"SELECT name, content FROM {FILES}"):
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        raw.execute(f"DROP TABLE {FILES}")
    shutil.rmtree(versions, ignore_errors=True)
    if part.exists():  # nobody had consented
        part.rename(versions)


def restore_sqlite(folder: Path, copy: Path) -> Path:
    """Put a backup in place of database and frozen copies, which go into a backup too; its name."""
    _check_is_study(copy)
    current, aside = folder / FILE, folder / f"before-{time.strftime('%Y%m%d-%H%M%S')}.sqlite"
    if current.exists():
        check_is_free(current)
        backup_sqlite(folder, aside)
    part = _copied(copy, current)
    _disclose(part, folder / VERSIONS)
    for helper in ("-wal", "-shm"):  # those of the old database would be read into the new one
        (folder / f"{FILE}{helper}").unlink(missing_ok=True)
    os.replace(part, current)
    return aside


def _check_is_study(copy: Path) -> None:
    try:
        with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro", uri=True)) as raw:
            (sound,) = raw.execute("PRAGMA integrity_check").fetchone()
            raw.execute("SELECT count(*) FROM answers, participants")
            names = [Path(name) for (name,) in raw.execute(f"SELECT name FROM {FILES}")]
            if any(name.is_absolute() or ".." in name.parts for name in names):
                sound = "it holds a file for another folder"
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
        # New answers are numbered after those that were copied.
        writing.execute(
            text(
                "SELECT setval(pg_get_serial_sequence('answers', 'number'), "
                "(SELECT coalesce(max(number), 1) FROM answers))"
            )
        )
    return count


def remove_copies(study: Study, participant: str) -> int:
    """How many of the person's items were there; labels of them no longer count."""
    if not isinstance(study.kind, Judging):
        raise UsageError(
            f"{study.folder} is a {study.kind.name} study, which judges no items. Name a study "
            "that was made with --from."
        )
    if (study.folder / FILE).exists():
        check_is_free(study.folder / FILE)
    kept = _kept(study, participant)
    if not kept:
        raise UsageError(
            f"{study.folder} has no items but this person's. Delete the folder: nothing in it "
            "may be used."
        )
    count = len(study.units) - len(kept)
    if count:
        _write(study, kept)
    if (study.folder / FILE).exists():
        with closing(open_database(study.folder)) as database, database.write() as connection:
            for version in versions_of(connection):
                copy = copy_of(study, version.number)
                _write(copy, _kept(copy, participant))
                refreeze(connection, study, version.number)
    return count


def _kept(study: Study, participant: str) -> dict[str, Cat | Pair]:
    assert isinstance(study.kind, Judging)
    items = study.kind.items(study)
    return {id_: item for id_, item in items.items() if not id_.startswith(f"{participant}-")}


def _write(study: Study, kept: dict[str, Cat | Pair]) -> None:
    writers = {id_: hash_ for id_, hash_ in study.cached(read_writers).items() if id_ in kept}
    (study.folder / WRITERS).unlink(missing_ok=True)
    study.kind.start(study.folder, StudySource(items=list(kept.values()), writers=writers))
