"""Where answers are kept: SQLite in the study's folder, or PostgreSQL; migrated when it is opened,
and written by one transaction at a time.

Times are seconds since 1970; a participant's number is drawn at random.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from stereometer.core.errors import StereometerError, UsageError

metadata = sa.MetaData()

versions = sa.Table(
    "versions",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("files", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)

participants = sa.Table(
    "participants",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("person", sa.String(64), nullable=False, unique=True),
    sa.Column("visit", sa.String(64), nullable=False),
    sa.Column("version", sa.Integer, sa.ForeignKey("versions.number"), nullable=False),
    sa.Column("panel", sa.String(32), nullable=False),
    sa.Column("language", sa.String(16), nullable=False),
    sa.Column("consented_at", sa.Float, nullable=False),
    sa.Column("finished_at", sa.Float),
    sa.Column("outcome", sa.String(16)),
    sa.Column("failed_checks", sa.Text, nullable=False, server_default="[]"),
)

leases = sa.Table(
    "leases",
    metadata,
    sa.Column("participant", sa.String(32), sa.ForeignKey("participants.id"), nullable=False),
    sa.Column("unit", sa.String(200), nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
    sa.UniqueConstraint("participant", "unit"),
    sa.Index("leases_by_state", "state", "expires_at", "unit"),
)

answers = sa.Table(
    "answers",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("participant", sa.String(32), sa.ForeignKey("participants.id"), nullable=False),
    sa.Column("page", sa.String(64), nullable=False),
    sa.Column("unit", sa.String(200)),
    sa.Column("sent", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.UniqueConstraint("participant", "page"),
)

payments = sa.Table(
    "payments",
    metadata,
    sa.Column("participant", sa.String(32), primary_key=True),
    sa.Column("ids", sa.Text, nullable=False),
)

tombstones = sa.Table(
    "tombstones",
    metadata,
    sa.Column("participant", sa.String(32), primary_key=True),
    sa.Column("beside", sa.Text, nullable=False, server_default="[]"),
    sa.Column("at", sa.Float, nullable=False),
)

controls = sa.Table(
    "controls",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
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
    engine: sa.Engine
    turn: threading.Lock = field(default_factory=threading.Lock)
    """Threads of this process queue here: waiting in SQLite is polling, and waiting in PostgreSQL
    holds a connection."""

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        with self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """One writer at a time: what it counts stays true until it commits."""
        with self.turn, self.engine.connect() as connection:
            writer = connection.execution_options(writes=True)
            with writer.begin():
                if self.engine.dialect.name == "postgresql":
                    writer.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
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


def _migrate(connection: sa.Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise UsageError(
            "The study's database is of another version of stereometer, which stored answers in "
            "another way. What they are about cannot be told from it. Export them with the version "
            "that made it, and make a new study."
        ) from None


def _postgres(url: str) -> sa.Engine:
    try:
        address = sa.make_url(url)
        if address.get_backend_name() != "postgresql":
            raise ArgumentError(url)
        return sa.create_engine(
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


def _sqlite(path: Path) -> sa.Engine:
    path.touch(0o600)  # it holds the ids of panels, and its helpers get the same mode
    engine = sa.create_engine(
        f"sqlite:///{path}",
        pool_size=THREADS,
        hide_parameters=True,  # they are ids and answers, and errors are logged
        connect_args={"timeout": WAIT_SECONDS, "check_same_thread": False},
    )

    @sa.event.listens_for(engine, "connect")
    def connected(raw: Any, record: Any) -> None:
        raw.isolation_level = None  # transactions are begun below, not by the driver
        raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("PRAGMA synchronous=FULL")
        raw.execute("PRAGMA foreign_keys=ON")
        raw.execute("PRAGMA secure_delete=ON")

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
