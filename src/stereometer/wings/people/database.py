"""Where answers are kept: SQLite in the study's folder, or PostgreSQL; migrated when it is opened,
and written by one transaction at a time.

Times are seconds since 1970; a participant's number is drawn at random.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from stereometer.core.errors import StereometerError, UsageError

metadata = MetaData()

versions = Table(
    "versions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("files", Text, nullable=False),
    Column("at", Float, nullable=False),
)

participants = Table(
    "participants",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("person", String(64), nullable=False, unique=True),
    Column("visit", String(64), nullable=False),
    Column("version", Integer, ForeignKey("versions.number"), nullable=False),
    Column("panel", String(32), nullable=False),
    Column("language", String(16), nullable=False),
    Column("consented_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("outcome", String(16)),
    Column("failed_checks", Text, nullable=False, server_default="[]"),
)

leases = Table(
    "leases",
    metadata,
    Column("participant", String(32), ForeignKey("participants.id"), nullable=False),
    Column("unit", String(200), nullable=False),
    Column("place", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("expires_at", Float, nullable=False),
    UniqueConstraint("participant", "unit"),
    Index("leases_by_state", "state", "expires_at", "unit"),
)

answers = Table(
    "answers",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("participant", String(32), ForeignKey("participants.id"), nullable=False),
    Column("page", String(64), nullable=False),
    Column("unit", String(200)),
    Column("sent", Text, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("participant", "page"),
)

payments = Table(
    "payments",
    metadata,
    Column("participant", String(32), primary_key=True),
    Column("ids", Text, nullable=False),
)

tombstones = Table(
    "tombstones",
    metadata,
    Column("participant", String(32), primary_key=True),
    Column("beside", Text, nullable=False, server_default="[]"),
    Column("at", Float, nullable=False),
)

controls = Table(
    "controls",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", Text, nullable=False),
)


FILE = "study.sqlite"
WAIT_SECONDS = 30
SCRUB_SECONDS = 10
"""How long a deletion waits for those who are reading."""
WRITE_AHEAD = (
    "PostgreSQL's write-ahead log (pg_wal), its archive and its backups hold deleted rows until "
    "they are recycled: run CHECKPOINT, and delete archives and backups from before."
)
THREADS = 20
"""Connections that a server may have at once, each used by a thread of its own."""
LOCK = 7_305_641
"""The advisory lock of PostgreSQL that assignments take."""


@dataclass(frozen=True)
class Database:
    engine: Engine
    turn: threading.Lock = field(default_factory=threading.Lock)
    """Threads of this process queue here: waiting in SQLite is polling, and waiting in PostgreSQL
    holds a connection."""

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One writer at a time: what it counts stays true until it commits."""
        with self.turn, self.engine.connect() as connection:
            writer = connection.execution_options(writes=True)
            with writer.begin():
                if self.engine.dialect.name == "postgresql":
                    writer.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
                yield writer

    def scrub(self) -> str:
        """Let nothing that was deleted stay in the database's files; where else it may be."""
        sqlite = self.engine.dialect.name == "sqlite"
        with self.turn, self.engine.connect() as connection:
            bare = connection.execution_options(isolation_level="AUTOCOMMIT")
            try:
                busy = False
                if sqlite:  # a reader keeps it from emptying its write-ahead log
                    bare.exec_driver_sql(f"PRAGMA busy_timeout={1000 * SCRUB_SECONDS}")
                    busy = bare.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]
                    bare.exec_driver_sql(f"PRAGMA busy_timeout={1000 * WAIT_SECONDS}")
                else:
                    bare.exec_driver_sql(f"SET lock_timeout = '{SCRUB_SECONDS}s'")
                    bare.exec_driver_sql("VACUUM FULL")
                    bare.exec_driver_sql("RESET lock_timeout")
            except DBAPIError:
                busy = True
        if busy:
            raise StereometerError(
                "The rows are deleted, but somebody is reading the database, and its "
                f"{f'file {FILE}-wal' if sqlite else 'files'} may still hold what they said. It "
                "can be cleared only when nobody reads. Stop the server, and run this again."
            )
        return "" if sqlite else WRITE_AHEAD

    def close(self) -> None:
        self.engine.dispose()


def open_database(folder: Path, url: str | None = None) -> Database:
    """The one at the address, or the SQLite file in the folder; made and brought up to date."""
    engine = _postgres(url) if url else _sqlite(folder / FILE)
    database = Database(engine)
    try:
        with database.write() as connection:
            _migrate(connection)
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise UsageError(
            f"The database cannot be opened: {reason}. Check that it runs, that it may be written, "
            "and that the address is right."
        ) from None
    return database


def _migrate(connection: Connection) -> None:
    config = Config()
    folder = resources.files("stereometer.wings.people").joinpath("migrations")
    config.set_main_option("script_location", str(folder))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise UsageError(
            "The study's database is of another version of stereometer, which stored answers in "
            "another way. What they are about cannot be told from it. Export them with the version "
            "that made it, and make a new study."
        ) from None


def _postgres(url: str) -> Engine:
    try:
        address = make_url(url)
        if address.get_backend_name() != "postgresql":
            raise ArgumentError(url)
        return create_engine(
            address.set(drivername="postgresql+psycopg"),
            max_overflow=THREADS - 5,
            hide_parameters=True,
            pool_pre_ping=True,
        )
    except (ArgumentError, NoSuchModuleError):
        raise UsageError(
            "--database takes the address of a PostgreSQL database, postgresql://USER@HOST/NAME. "
            "Without it answers go to study.sqlite in the folder."
        ) from None
    except ModuleNotFoundError:
        raise UsageError(
            "PostgreSQL needs the package psycopg. It is not installed. "
            "From a clone: `pip install '.[web,postgres]'`."
        ) from None


def _sqlite(path: Path) -> Engine:
    path.touch(0o600)  # it holds the ids of panels, and its helpers get the same mode
    engine = create_engine(
        f"sqlite:///{path}",
        pool_size=THREADS,
        hide_parameters=True,  # they are ids and answers, and errors are logged
        connect_args={"timeout": WAIT_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def connected(raw: Any, record: Any) -> None:
        raw.isolation_level = None  # transactions are begun below, not by the driver
        raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("PRAGMA synchronous=FULL")
        raw.execute("PRAGMA foreign_keys=ON")
        raw.execute("PRAGMA secure_delete=ON")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
