"""Where answers are kept: SQLite in the study's folder, or PostgreSQL."""

from __future__ import annotations

from stereometer.studies.database.connect import Database, open_database
from stereometer.studies.database.tables import answers, leases, participants, payments, tombstones

__all__ = [
    "Database",
    "answers",
    "leases",
    "open_database",
    "participants",
    "payments",
    "tombstones",
]
