"""A study under load and under kills, through the real server: `python -m bench studies`.

With STEREOMETER_BENCH_DATABASE set to the address of an empty PostgreSQL database, on that instead
of SQLite.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.builders.fieldwork import Fieldwork, Served, audited
from tests.builders.studies import set_toml

from stereometer.wings.people.new import new_study

PEOPLE = 200
KILLS = 10
PAGES_A_SECOND = 50
ROUNDS = 3
URL = os.environ.get("STEREOMETER_BENCH_DATABASE")


def measure() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS if URL is None else 1):
            rows += _load(Path(folder) / f"load-{number}")
        rows += _kills(Path(folder) / "kills")
    return rows


def _load(folder: Path) -> list[dict[str, Any]]:
    """Careful people who take so long over a page that 50 pages a second are sent, and as many
    shown; counted while all of them are there."""
    new_study("survey", folder)
    study = set_toml(folder, name="prolific", judgements=PEOPLE)
    think = 0.87 * PEOPLE / PAGES_A_SECOND  # consent and the last page store nothing
    load = os.getloadavg()[0]
    with Served(folder, URL) as served:
        fieldwork = Fieldwork(study, served, think_seconds=think, manners={"careful": 1.0})
        began, cpu = time.perf_counter(), served.cpu_seconds()
        ledger = fieldwork.wave(PEOPLE)
        cpu = served.cpu_seconds() - cpu
    start, end = began + 2 * think, began + 8 * think
    seconds = sorted(taken for at, taken in ledger.replies if start <= at < end)
    stored = sum(start <= at < end for at in ledger.stored_at)
    return [
        row("95 % of replies within", 1000 * seconds[int(0.95 * len(seconds))], "ms", "250"),
        row("half of the replies within", 1000 * seconds[len(seconds) // 2], "ms", "none"),
        row("pages sent and stored per second", stored / (end - start), "", str(PAGES_A_SECOND)),
        row("requests per second", len(seconds) / (end - start), "", "none"),
        row("server's processor time per request", 1000 * cpu / len(ledger.replies), "ms", "none"),
        row(f"load average {load:.1f} to {os.getloadavg()[0]:.1f}", None, "", ""),
    ]


def _kills(folder: Path) -> list[dict[str, Any]]:
    new_study("survey", folder)
    quota = PEOPLE * 4 // 25
    study = set_toml(folder, name="prolific", judgements=quota, lease_minutes=1)
    with Served(folder, URL) as served:
        fieldwork = Fieldwork(study, served)
        ledger = fieldwork.fill(PEOPLE, KILLS)
        books = audited(fieldwork)
    counts = [books.places[unit.name] for unit in study.units]
    return [
        row(f"acknowledged answers lost in {KILLS} kills", books.lost, "", "0"),
        row("answers changed", books.changed, "", "0"),
        row("answers stored twice", books.twice, "", "0"),
        row("groups below their quota", sum(count < quota for count in counts), "", "0"),
        row("groups above their quota", sum(count > quota for count in counts), "", "0"),
        row(f"answers stored, {fieldwork.names} visits", books.stored, "", "none"),
        row("requests that got no reply and were sent again", ledger.broken, "", "none"),
    ]


def row(what: str, value: float | None, unit: str, bar: str) -> dict[str, Any]:
    return {"what": what, "value": value, "unit": unit, "bar": bar}
