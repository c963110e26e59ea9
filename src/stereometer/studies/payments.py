"""Whom to pay, and how much: the only place that reads the ids of panels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import select

from stereometer.studies.config import Pay
from stereometer.studies.database import open_database, participants, payments
from stereometer.studies.export.items import bonus_rows
from stereometer.studies.export.tables import write_table
from stereometer.studies.kinds.judge_pairs import JUDGE_PAIRS
from stereometer.studies.panels import PANELS
from stereometer.studies.people import open_edition
from stereometer.studies.study import Study


def payment_rows(study: Study, url: str | None = None) -> list[dict[str, Any]]:
    """One row per participant who has ended, until `forget_ids` empties the table."""
    ended = (
        select(payments.c.ids, participants.c.person, participants.c.outcome)
        .join(participants, participants.c.id == payments.c.participant)
        .where(participants.c.outcome.is_not(None))
        .order_by(participants.c.finished_at)
    )
    with closing(open_database(study.folder, url)) as database, database.read() as connection:
        rows = connection.execute(ended).all()
    pay, codes = study.config.pay, study.config.codes
    return [
        {
            **json.loads(row.ids),
            "hash": row.person,
            "outcome": row.outcome,
            "code": getattr(codes, row.outcome),
            "amount": amount(pay, row.outcome),
        }
        for row in rows
    ]


def write_payments(study: Study, to: Path, url: str | None = None) -> int:
    """The rows as a table that only its owner can read; writers' bonuses in another beside it."""
    rows = payment_rows(study, url)
    ids = PANELS[study.config.panel.name].parameters or ("visit",)
    _own_table(to, (*ids, "hash", "outcome", "code", "amount"), rows)
    if bonuses := _bonuses(study, url):
        _own_table(to.with_name(f"{to.stem}-bonuses.csv"), tuple(bonuses[0]), bonuses)
    return len(rows)


def _own_table(to: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    write_table(to, columns, rows)
    to.chmod(0o600)


def _bonuses(study: Study, url: str | None) -> list[dict[str, Any]]:
    """Of those whose pairs were judged; the writing study's payments have the same hashes."""
    if study.kind is not JUDGE_PAIRS:
        return []
    edition = open_edition(study, url)
    return bonus_rows(edition.study, edition.counted)


def amount(pay: Pay, outcome: str) -> float:
    """Who fails a check is paid like everybody who finishes."""
    return {"complete": pay.complete, "failed": pay.complete, "left": pay.left}.get(outcome, 0.0)
