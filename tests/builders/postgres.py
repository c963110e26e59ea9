"""A throw-away PostgreSQL cluster, where its server is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from stereometer.wings.people.database import metadata, open_database
from tests.builders.ports import free_port

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of an empty cluster; the server refuses to run as root, so another user does."""
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    port = free_port()
    as_user = _as_user(folder)
    control = [*as_user, str(BINARIES[0] / "pg_ctl"), "-D", str(folder / "data"), "-w"]
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    _run([*as_user, str(BINARIES[0] / "initdb"), "-D", str(folder / "data"), "-A", "trust",
          "-U", "study"])  # fmt: skip
    _run([*control, "-l", str(folder / "log"), "-o", options, "start"])
    yield f"postgresql://study@127.0.0.1:{port}/postgres"
    _run([*control, "-m", "immediate", "stop"])
    shutil.rmtree(folder, ignore_errors=True)


def emptied(url: str) -> str:
    """That cluster without the answers of the test before."""
    database = open_database(Path(), url)
    with database.write() as connection:
        names = ", ".join(table.name for table in metadata.sorted_tables)
        connection.execute(text(f"TRUNCATE {names}"))
    database.close()
    return url


def _as_user(folder: Path) -> list[str]:
    if os.getuid() != 0:
        return []
    user = "postgres"
    shutil.chown(folder, user)
    return ["runuser", "-u", user, "--"]


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, cwd="/", stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        pytest.skip(f"PostgreSQL cannot be started here: {(done.stderr or done.stdout)[-300:]}")
