"""Answers kept on disk: one SQLite file, numbers as blobs, keyed by model identity and request.
What models and servers were known by stands in tables of its own.

Safe for several processes (WAL, short transactions) and for a kill at any moment (a batch is
committed whole or not at all). A file that is not a healthy cache is moved aside, never trusted,
and a row whose checksum does not hold counts as missing.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import wraps
from hashlib import blake2b, sha256
from pathlib import Path
from shutil import copyfile
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args

from filelock import BaseFileLock, FileLock
from platformdirs import user_cache_path

from stereometer.core.errors import StereometerError
from stereometer.core.types import Answer, Row
from stereometer.core.types.opener import Records

LOG = logging.getLogger("stereometer")
Stored = tuple[bytes, str, bytes, float, bytes | None]
"""Key, layout, numbers, when it was written, checksum."""
VERSION = 4
"""A file of another version is left alone: programs of that version may be at work in it."""
DEFAULT_CAP = 2 * 1024**3
VARIABLE = "STEREOMETER_CACHE"
BUSY_SECONDS = 60
KEYS_A_QUERY = 500
ANOTHER = "The answer cache %s is of version %d, this program's of %d: answers are kept in %s."
BROKEN = "The answer cache was broken (%s). What was there is in %s; a new one was started."
DAMAGED = "%d answers in the cache %s were damaged. They are asked again."
EVICT_SHARE = 0.10
"""When the cap is passed, this share of the oldest answers goes at once."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, layout TEXT NOT NULL, numbers BLOB NOT NULL, written REAL NOT NULL,
    checksum BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_age ON answers (written);
"""
RECORDS: tuple[Records, ...] = get_args(Records)
RECORD_SCHEMA = """
CREATE TABLE IF NOT EXISTS {} (
    key TEXT PRIMARY KEY, record TEXT NOT NULL, checksum BLOB NOT NULL
) WITHOUT ROWID
"""
LAYOUT = json.JSONEncoder(separators=(",", ":"))
Given = ParamSpec("Given")
Known = TypeVar("Known")
COLUMNS = "key, layout, numbers, checksum"


def default_path() -> Path:
    folder = os.environ.get(VARIABLE) or user_cache_path("stereometer", appauthor=False)
    return Path(folder) / "answers.sqlite"


def cache_key(identity: str, request_key: str) -> bytes:
    return sha256(f"{identity}:{request_key}".encode()).digest()


def mended(
    work: Callable[Concatenate[Cache, Given], Known],
) -> Callable[Concatenate[Cache, Given], Known]:
    """Once more where it finds the file broken, which is emptied; raises where its place is to
    blame."""

    @wraps(work)
    def mending(self: Cache, /, *args: Given.args, **named: Given.kwargs) -> Known:
        try:
            return work(self, *args, **named)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise _unusable(self.path, str(error)) from None
            self._empty(error)
            return work(self, *args, **named)

    return mending


class Cache(AbstractContextManager["Cache"]):
    """Answers of one model identity; `get` and `put` work on many keys at once."""

    def __init__(
        self, path: Path | None = None, cap: int = DEFAULT_CAP, alone: bool = False
    ) -> None:
        self.path, self.cap = path or default_path(), cap
        self.alone = alone
        """One process only, with a journal that also works on a network's file system."""
        self._file = self._open()

    def close(self, *error: object) -> None:
        self._file.close()

    __exit__ = close

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return _connect(self.path, self.alone)
            except OtherVersion as other:
                return self._open_own(other.version)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                return self._begin_again(error)
        except (OSError, sqlite3.DatabaseError) as error:
            raise _unusable(self.path, str(error)) from None

    def _open_own(self, version: int) -> sqlite3.Connection:
        """A file of this version beside that of another."""
        known, path = self.path, self.path
        self.path = path.with_name(f"{path.stem}-{VERSION}{path.suffix}")
        if not self.path.exists():
            LOG.warning(ANOTHER, known, version, VERSION, self.path)
        return self._open()

    def _begin_again(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        """Moves a file aside that cannot be opened; where two processes find it so at once, the
        second finds the first one's new file."""
        with self._alone():
            try:
                return _connect(self.path, self.alone)
            except sqlite3.DatabaseError:
                aside = self._aside()
                os.replace(self.path, aside)
            for leftover in ("-wal", "-shm"):
                self.path.with_name(self.path.name + leftover).unlink(missing_ok=True)
            LOG.warning(BROKEN, error, aside)
            return _connect(self.path, self.alone)

    def _empty(self, error: sqlite3.DatabaseError) -> None:
        """Empties a file that is found broken in use, in place, because others may have it open
        too; a copy stands aside."""
        with self._alone():
            if _is_sound(self._file):
                return  # another process has done it
            aside = self._aside()
            copyfile(self.path, aside)
            with closing(sqlite3.connect(":memory:")) as fresh:
                _begin(fresh)
                fresh.backup(self._file)
            LOG.warning(BROKEN, error, aside)

    def _alone(self) -> BaseFileLock:
        """Of all processes that mend the file."""
        return FileLock(f"{self.path}.lock")

    def _aside(self) -> Path:
        return self.path.with_name(f"{self.path.name}.broken-{time.time_ns()}")

    @mended
    def get(self, identity: str, keys: Sequence[str]) -> dict[str, Answer]:
        """The answers that are there."""
        names = {cache_key(identity, key): key for key in keys}
        answers: dict[str, Answer] = {}
        damaged: list[tuple[bytes]] = []
        wanted = list(names)
        for start in range(0, len(wanted), KEYS_A_QUERY):
            batch = wanted[start : start + KEYS_A_QUERY]
            select = f"SELECT {COLUMNS} FROM answers WHERE key IN ({','.join('?' * len(batch))})"
            for key, layout, numbers, checksum in self._file.execute(select, batch):
                if checksum == checksum_of(key, layout, numbers):
                    answers[names[key]] = unpack(layout, numbers)
                else:
                    damaged.append((key,))
        if damaged:
            LOG.warning(DAMAGED, len(damaged), self.path)
            with self._transaction():  # makes room for the right answers
                self._file.executemany("DELETE FROM answers WHERE key = ?", damaged)
        return answers

    @mended
    def put(self, identity: str, answers: Mapping[str, Answer]) -> None:
        """All of them or, if the process dies here, none."""
        rows, now = [], time.time()
        for name, answer in answers.items():
            key, (layout, numbers) = cache_key(identity, name), pack(answer)
            rows.append((key, layout, numbers, now, checksum_of(key, layout.encode(), numbers)))
        self.add(rows)

    def add(self, rows: Sequence[Stored]) -> int:
        """Rows as they are stored; how many of them are new."""
        before = self._file.total_changes
        with self._transaction():
            self._file.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", rows)
        new = self._file.total_changes - before
        self._evict()
        return new

    @mended
    def record(self, table: Records, key: str) -> str | None:
        """What is known of a model or a server; one that is damaged counts as missing."""
        select = f"SELECT record, checksum FROM {table} WHERE key = ?"
        record, checksum = self._file.execute(select, (key,)).fetchone() or (None, None)
        if record is None:
            return None
        if checksum == checksum_of(key.encode(), record, b""):
            return str(record, "utf-8")
        self.forget(table, key)  # makes room for the right one
        return None

    @mended
    def keep(self, table: Records, key: str, record: str) -> None:
        """One that is there already stays."""
        row = key, record, checksum_of(key.encode(), record.encode(), b"")
        with self._transaction():
            self._file.execute(f"INSERT OR IGNORE INTO {table} VALUES (?, ?, ?)", row)

    def forget(self, table: Records, key: str) -> None:
        with self._transaction():
            self._file.execute(f"DELETE FROM {table} WHERE key = ?", (key,))

    def info(self) -> dict[str, Any]:
        sizes = {"answers": self._count(), "bytes": self._bytes(), "cap": self.cap}
        return {"path": str(self.path), **sizes}

    def clear(self) -> int:
        count = self._count()
        with self._transaction():
            for table in ("answers", *RECORDS):
                self._file.execute(f"DELETE FROM {table}")
        self._file.execute("VACUUM")
        return count

    def _count(self) -> int:
        return int(self._file.execute("SELECT count(*) FROM answers").fetchone()[0])

    def _bytes(self) -> int:
        pages, free, size = (
            self._file.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def _evict(self) -> None:
        oldest = "SELECT key FROM answers ORDER BY written LIMIT ?"
        while self._bytes() > self.cap and (count := self._count()):
            most = max(1, int(count * EVICT_SHARE))
            with self._transaction():
                self._file.execute(f"DELETE FROM answers WHERE key IN ({oldest})", (most,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._file.execute("BEGIN IMMEDIATE")
            yield
            self._file.execute("COMMIT")
        except BaseException as error:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            if isinstance(error, sqlite3.DatabaseError) and not _is_damage(error):
                raise _unusable(self.path, str(error)) from None
            raise


class OtherVersion(sqlite3.DatabaseError):
    """Nothing is wrong with the file."""

    def __init__(self, version: int) -> None:
        super().__init__(f"version {version} instead of {VERSION}")
        self.version = version


def _connect(path: Path, alone: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.text_factory = bytes  # a damaged text may be no text
    try:
        if (version := _version(connection)) not in (0, VERSION):
            raise OtherVersion(version)
        if alone:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        _patiently(connection, f"PRAGMA journal_mode = {'TRUNCATE' if alone else 'WAL'}")
        connection.execute("PRAGMA synchronous = NORMAL")
        if version != VERSION:
            connection.execute("BEGIN IMMEDIATE")
            _begin(connection)
            connection.execute("COMMIT")
        _read_columns(connection)
    except BaseException as error:
        connection.close()
        if isinstance(error, UnicodeDecodeError):  # SQLite's message quotes the damaged file
            raise sqlite3.DatabaseError("its table is damaged") from None
        raise
    return connection


def _read_columns(connection: sqlite3.Connection) -> None:
    """Raises where a table or a column is missing."""
    connection.execute(f"SELECT {COLUMNS} FROM answers LIMIT 1").fetchone()
    for table in RECORDS:
        connection.execute(f"SELECT record, checksum FROM {table} LIMIT 1").fetchone()


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _begin(connection: sqlite3.Connection) -> None:
    """The tables of a new file; another process may have been quicker."""
    if _version(connection) == VERSION:
        return
    for statement in (*SCHEMA.split(";"), *map(RECORD_SCHEMA.format, RECORDS)):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is to blame rather than its place: a full disk or a lock is no damage, a
    table that has lost a column is."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return not isinstance(error, sqlite3.OperationalError) or code == sqlite3.SQLITE_ERROR


def _is_sound(connection: sqlite3.Connection) -> bool:
    """Whether every page can be read, by SQLite's own check, and every column is there."""
    try:
        _read_columns(connection)
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == (b"ok",))
    except sqlite3.DatabaseError:
        return False


def _patiently(connection: sqlite3.Connection, statement: str) -> None:
    """SQLite waits for a lock by itself, but not for the one that changes the journal mode: two
    first runs at once."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _unusable(path: Path, reason: str) -> StereometerError:
    return StereometerError(
        f"The answer cache {path} cannot be used: {reason}. The disk is full, read-only or locked."
        f" Set {VARIABLE} to another folder."
    )


def checksum_of(key: object, layout: object, numbers: object) -> bytes | None:
    """Over everything that an answer is read from; None where a column has lost its type."""
    if not (isinstance(key, bytes) and isinstance(layout, bytes) and isinstance(numbers, bytes)):
        return None
    return blake2b(key + len(layout).to_bytes(8) + layout + numbers, digest_size=16).digest()


def pack(answer: Answer) -> tuple[str, bytes]:
    """Names and lengths as text, numbers as little-endian doubles; what a model wrote stands with
    the names."""
    rows = [[(name, len(column)) for name, column in sorted(row.items())] for row in answer.rows]
    numbers = array("d")
    for row in answer.rows:
        for _, column in sorted(row.items()):
            numbers += array("d", column)
    if sys.byteorder == "big":
        numbers.byteswap()
    return LAYOUT.encode([rows, answer.text, answer.end]), numbers.tobytes()


def unpack(layout: str | bytes, numbers: bytes) -> Answer:
    values = array("d")
    values.frombytes(numbers)
    if sys.byteorder == "big":
        values.byteswap()
    start = 0
    layouts, text, end = json.loads(layout)
    rows: list[Row] = []
    for columns in layouts:
        row = {}
        for name, length in columns:
            row[name] = values[start : start + length]
            start += length
        rows.append(row)
    return Answer(tuple(rows), text, end)
