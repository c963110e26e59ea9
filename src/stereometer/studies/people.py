"""Everybody who took part, read from the database: what exports and progress are made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from stereometer.studies.database import Database, answers, leases, participants
from stereometer.studies.kinds.kind import Person


@dataclass(frozen=True)
class Participant:
    person: Person
    hash: str
    """The keyed hash under which a panel's id is known."""
    panel: str
    consented_at: float
    finished_at: float | None
    outcome: str | None
    """None while it goes on."""
    failed_checks: tuple[str, ...]
    times: dict[str, float]
    """When each page was sent."""

    @property
    def passed(self) -> bool:
        return self.outcome == "complete"


def everybody(database: Database) -> list[Participant]:
    with database.read() as connection:
        rows = connection.execute(select(participants).order_by(participants.c.consented_at)).all()
        units: dict[str, list[str]] = {}
        for row in connection.execute(select(leases).order_by(leases.c.place)):
            units.setdefault(row.participant, []).append(row.unit)
        sent: dict[str, dict[str, dict[str, object]]] = {}
        times: dict[str, dict[str, float]] = {}
        for row in connection.execute(select(answers).order_by(answers.c.number)):
            sent.setdefault(row.participant, {})[row.page] = json.loads(row.sent)
            times.setdefault(row.participant, {})[row.page] = row.at
    return [
        Participant(
            Person(row.id, tuple(units.get(row.id, ())), sent.get(row.id, {}), row.language),
            row.person,
            row.panel,
            row.consented_at,
            row.finished_at,
            row.outcome,
            tuple(json.loads(row.failed_checks)),
            times.get(row.id, {}),
        )
        for row in rows
    ]


def kept(people: Sequence[Participant], counts_at_once: bool) -> list[Participant]:
    """Those whose answers count: who passed, and, where a page counts at once, who left midway."""
    if not counts_at_once:
        return [participant for participant in people if participant.passed]
    return [participant for participant in people if participant.outcome != "failed"]
