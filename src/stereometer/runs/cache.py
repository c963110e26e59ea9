"""Answers kept on disk: one SQLite file, numbers as blobs, keyed by model identity and request.

Safe for several processes (WAL, short transactions) and for a kill at any moment (a batch is
committed whole or not at all). A file that is not a healthy cache is moved aside, never trusted.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import sqlite3
import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from types import TracebackType

from platformdirs import user_cache_path

from stereometer.errors import StereometerError
from stereometer.types import Answer

LOG = logging.getLogger("stereometer")
VERSION = 1
DEFAULT_CAP = 2 * 1024**3
VARIABLE = "STEREOMETER_CACHE"
BUSY_SECONDS = 60
KEYS_A_QUERY = 500
BROKEN = "The answer cache was broken (%s). What was there is in %s; a new one was begun."
EVICT_SHARE = 0.10
"""When the cap is passed, this share of the oldest answers goes at once."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, layout TEXT NOT NULL, numbers BLOB NOT NULL, written REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_age ON answers (written);
"""


def default_path() -> Path:
    folder = os.environ.get(VARIABLE)
    return (
        Path(folder) if folder else user_cache_path("stereometer", appauthor=False)
    ) / "answers.sqlite"


def cache_key(identity: str, request_key: str) -> bytes:
    return sha256(f"{identity}:{request_key}".encode()).digest()


class Cache:
    """Answers of one model identity; `get` and `put` work on many keys at once."""

    def __init__(self, path: Path | None = None, cap: int = DEFAULT_CAP) -> None:
        self.path = path or default_path()
        self.cap = cap
        self._connection = self._open()

    def __enter__(self) -> Cache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return _connect(self.path)
        except (OSError, sqlite3.OperationalError) as error:
            raise _unusable(self.path, str(error)) from None
        except sqlite3.DatabaseError as error:
            return self._begin_anew(error)

    def _begin_anew(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        """Moves a file aside that cannot be opened; where two processes find it so at once, the
        second finds the first one's new file."""
        with self._alone():
            try:
                return _connect(self.path)
            except sqlite3.DatabaseError:
                aside = self._aside()
                os.replace(self.path, aside)
            for leftover in ("-wal", "-shm"):
                self.path.with_name(self.path.name + leftover).unlink(missing_ok=True)
            LOG.warning(BROKEN, error, aside)
            return _connect(self.path)

    def _empty(self, error: sqlite3.DatabaseError) -> None:
        """Empties a file that is found broken in use, in place, because others may have it open
        too; a copy stands aside."""
        with self._alone():
            if _is_sound(self._connection):
                return  # another process has done it
            aside = self._aside()
            copyfile(self.path, aside)
            with closing(sqlite3.connect(":memory:")) as fresh:
                fresh.executescript(f"{SCHEMA} PRAGMA user_version = {VERSION};")
                fresh.backup(self._connection)
            LOG.warning(BROKEN, error, aside)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Of all processes that mend the file."""
        with self.path.with_name(self.path.name + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _aside(self) -> Path:
        return self.path.with_name(f"{self.path.name}.broken-{time.time_ns()}")

    def get(self, identity: str, keys: Sequence[str]) -> dict[str, Answer]:
        """The answers that are there; a file found broken here is begun anew."""
        try:
            return self._stored(identity, keys)
        except sqlite3.OperationalError as error:
            raise _unusable(self.path, str(error)) from None
        except sqlite3.DatabaseError as error:
            self._empty(error)
            return {}

    def _stored(self, identity: str, keys: Sequence[str]) -> dict[str, Answer]:
        names = {cache_key(identity, key): key for key in keys}
        answers: dict[str, Answer] = {}
        wanted = list(names)
        for start in range(0, len(wanted), KEYS_A_QUERY):
            batch = wanted[start : start + KEYS_A_QUERY]
            marks = ",".join("?" * len(batch))
            rows = self._connection.execute(
                f"SELECT key, layout, numbers FROM answers WHERE key IN ({marks})", batch
            )
            answers.update((names[key], unpack(layout, numbers)) for key, layout, numbers in rows)
        return answers

    def put(self, identity: str, answers: Mapping[str, Answer]) -> None:
        """All of them or, if the process dies here, none."""
        try:
            self._put(identity, answers)
        except sqlite3.DatabaseError as error:
            self._empty(error)
            self._put(identity, answers)

    def _put(self, identity: str, answers: Mapping[str, Answer]) -> None:
        now = time.time()
        rows = [(cache_key(identity, key), *pack(answer), now) for key, answer in answers.items()]
        with self._transaction():
            self._connection.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", rows)
        self._evict()

    def info(self) -> dict[str, int | str]:
        (count,) = self._connection.execute("SELECT count(*) FROM answers").fetchone()
        return {"path": str(self.path), "answers": count, "bytes": self._bytes(), "cap": self.cap}

    def clear(self) -> int:
        (count,) = self._connection.execute("SELECT count(*) FROM answers").fetchone()
        with self._transaction():
            self._connection.execute("DELETE FROM answers")
        self._connection.execute("VACUUM")
        return int(count)

    def _bytes(self) -> int:
        pages, free, size = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def _evict(self) -> None:
        while self._bytes() > self.cap:
            (count,) = self._connection.execute("SELECT count(*) FROM answers").fetchone()
            if not count:
                return
            oldest = max(1, int(count * EVICT_SHARE))
            with self._transaction():
                self._connection.execute(
                    "DELETE FROM answers WHERE key IN (SELECT key FROM answers ORDER BY written"
                    " LIMIT ?)",
                    (oldest,),
                )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise _unusable(self.path, str(error)) from None
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        _patiently(connection, "PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"cache version {version}, this program writes {VERSION}")
        if version == 0:
            connection.executescript(
                f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;"
            )
        connection.execute("SELECT key, layout, numbers FROM answers LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _is_sound(connection: sqlite3.Connection) -> bool:
    """Whether every page can be read: SQLite's own check, which stops at the first fault."""
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
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


def pack(answer: Answer) -> tuple[str, bytes]:
    """Names and lengths as text, numbers as little-endian doubles; what a model wrote stands with
    the names."""
    rows = [[(name, len(column)) for name, column in sorted(row.items())] for row in answer.rows]
    layout = (
        {"rows": rows, "text": answer.text, "end": answer.end}
        if answer.text is not None or answer.end
        else rows
    )
    numbers = b"".join(
        _little(array("d", column)).tobytes()
        for row in answer.rows
        for _, column in sorted(row.items())
    )
    return json.dumps(layout, separators=(",", ":")), numbers


def unpack(layout: str, numbers: bytes) -> Answer:
    values = array("d")
    values.frombytes(numbers)
    answer = json.loads(layout)
    if isinstance(answer, dict):
        return Answer(tuple(_rows(answer["rows"], _little(values))), answer["text"], answer["end"])
    return Answer(tuple(_rows(answer, _little(values))))


def _rows(
    layout: Iterable[list[tuple[str, int]]], values: array[float]
) -> Iterator[dict[str, array[float]]]:
    start = 0
    for columns in layout:
        row = {}
        for name, length in columns:
            row[name] = values[start : start + length]
            start += length
        yield row


def _little(values: array[float]) -> array[float]:
    if sys.byteorder == "little":
        return values
    swapped = values[:]
    swapped.byteswap()
    return swapped
