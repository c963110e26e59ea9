"""From consent to the last page: what is shown next, what is stored, how it ends.

Nothing is remembered about where a person is: the next page is the first one without an answer.
"""

from __future__ import annotations

import json
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, select, update

from stereometer.studies import assignment
from stereometer.studies.closing import last_pages
from stereometer.studies.database import Database, answers, participants, payments, tombstones
from stereometer.studies.database.tables import controls, leases
from stereometer.studies.fields import Form
from stereometer.studies.kinds.kind import Page, Person
from stereometer.studies.panels import PANELS
from stereometer.studies.study import Study

PAUSED = "paused"
INSTRUCTIONS = Page("instructions", "instructions.html", Form(()))


@dataclass(frozen=True)
class Arrival:
    """Who comes, and how; nothing of it is stored before consent."""

    panel: str
    ids: Mapping[str, str]
    """As the panel names them; they are stored for payment only."""
    language: str

    @property
    def identity(self) -> str:
        """What says who it is, whichever session they come in."""
        names = PANELS[self.panel].person or tuple(self.ids)
        return json.dumps({name: self.ids[name] for name in names})


@dataclass(frozen=True)
class Standing:
    """Where a person is: the page to show, or the outcome."""

    person: Person
    page: Page | None
    outcome: str | None
    steps: int = 0
    done: int = 0


@dataclass(frozen=True)
class Participation:
    study: Study
    database: Database
    clock: Callable[[], float] = time.time
    lot: random.Random = field(default_factory=secrets.SystemRandom)

    # -------------------------------------------------------------------------------- coming in

    def has_room(self) -> bool:
        with self.database.read() as connection:
            taken = assignment.places_taken(connection, self.clock())
        quota = self.study.config.quota.judgements
        return any(taken[unit.name] < quota for unit in self.study.units)

    def paused(self) -> bool:
        with self.database.read() as connection:
            value = connection.execute(
                select(controls.c.value).where(controls.c.name == PAUSED)
            ).scalar()
        return value == "yes"

    def consent(self, arrival: Arrival) -> str | None:
        """The participant's number, new or from before; None where no place is left."""
        person = self.study.secrets.person(arrival.panel, arrival.identity)
        with self.database.write() as connection:
            known = connection.execute(
                select(participants.c.id).where(participants.c.person == person)
            ).scalar()
            if known is not None:
                return str(known)
            return self._enrol(connection, arrival, person)

    def _enrol(self, connection: Connection, arrival: Arrival, person: str) -> str | None:
        names = self._units_for(connection, person)
        if not names:
            return None
        now, id_ = self.clock(), f"{self.lot.getrandbits(64):016x}"
        connection.execute(
            participants.insert().values(
                id=id_,
                person=person,
                panel=arrival.panel,
                language=arrival.language,
                consented_at=now,
            )
        )
        connection.execute(
            payments.insert().values(participant=id_, ids=json.dumps(dict(arrival.ids)))
        )
        assignment.lease(connection, id_, names, self._expiry(now))
        return id_

    def _units_for(self, connection: Connection, person: str) -> list[str]:
        quota = self.study.config.quota
        others = [unit for unit in self.study.units if unit.writer != person]
        taken = assignment.places_taken(connection, self.clock())
        return assignment.chosen(others, taken, quota.judgements, quota.per_person, self.lot)

    def _expiry(self, now: float) -> float:
        return now + 60 * self.study.config.quota.lease_minutes

    # ---------------------------------------------------------------------------- page after page

    def standing(self, participant: str) -> Standing | None:
        """None where nobody has that number, or has withdrawn."""
        with self.database.read() as connection:
            return self._standing(connection, participant)

    def _standing(self, connection: Connection, participant: str) -> Standing | None:
        row = connection.execute(
            select(participants.c.language, participants.c.outcome).where(
                participants.c.id == participant
            )
        ).one_or_none()
        if row is None:
            return None
        person = Person(
            participant,
            assignment.leased(connection, participant),
            _sent(connection, participant),
            row.language,
        )
        if row.outcome is not None:
            return Standing(person, None, row.outcome)
        return self._under_way(person)

    def _under_way(self, person: Person) -> Standing:
        pages = self.pages(person)
        waiting = [page for page in pages if page.key not in person.answers]
        done = len(pages) - len(waiting)
        return Standing(person, waiting[0] if waiting else None, None, len(pages), done)

    def pages(self, person: Person) -> Sequence[Page]:
        return [
            INSTRUCTIONS,
            *self.study.kind.pages(self.study, person),
            *last_pages(self.study, person),
        ]

    def submit(self, participant: str, key: str, values: Mapping[str, Any]) -> Standing | None:
        """Store an answer once; a page that was sent before, or is not due, changes nothing."""
        with self.database.write() as connection:
            before = self._standing(connection, participant)
            if before is None or before.page is None or before.page.key != key:
                return before
            if not self._kept(connection, participant):
                self._end(connection, participant, "left", [])
                return self._standing(connection, participant)
            self._store(connection, participant, before.page, values)
            person = replace(before.person, answers={**before.person.answers, key: dict(values)})
            after = self._under_way(person)
            return after if after.page else replace(after, outcome=self._finish(connection, person))

    def _kept(self, connection: Connection, participant: str) -> bool:
        now, quota = self.clock(), self.study.config.quota.judgements
        return assignment.renew(connection, participant, quota, now, self._expiry(now))

    def _store(
        self, connection: Connection, participant: str, page: Page, values: Mapping[str, Any]
    ) -> None:
        connection.execute(
            answers.insert().values(
                participant=participant,
                page=page.key,
                unit=page.unit,
                sent=json.dumps(dict(values), ensure_ascii=False),
                at=self.clock(),
            )
        )
        if page.unit is not None and self.study.kind.counts_at_once:
            assignment.settle(connection, participant, assignment.COUNTED, [page.unit])

    # --------------------------------------------------------------------------------- the end

    def _finish(self, connection: Connection, person: Person) -> str:
        checks = self.study.kind.checks(self.study, person)
        failed = sorted(name for name, passed in checks.items() if not passed)
        outcome = "failed" if failed else "complete"
        self._end(connection, person.id, outcome, failed)
        return outcome

    def _end(
        self, connection: Connection, participant: str, outcome: str, failed: Sequence[str]
    ) -> None:
        complete = outcome == "complete"
        state = assignment.COUNTED if complete else assignment.RETURNED
        assignment.settle(connection, participant, state)
        if outcome == "failed":
            assignment.return_counted(connection, participant)
        connection.execute(
            update(participants)
            .where(participants.c.id == participant)
            .values(
                outcome=outcome, finished_at=self.clock(), failed_checks=json.dumps(list(failed))
            )
        )

    def leave(self, participant: str) -> None:
        with self.database.write() as connection:
            standing = self._standing(connection, participant)
            if standing is not None and standing.outcome is None:
                self._end(connection, participant, "left", [])

    # ------------------------------------------------------------------- what researchers do

    def pause(self, paused: bool) -> None:
        with self.database.write() as connection:
            connection.execute(controls.delete().where(controls.c.name == PAUSED))
            connection.execute(
                controls.insert().values(name=PAUSED, value="yes" if paused else "no")
            )

    def exclude(self, participant: str, reason: str) -> bool:
        """Leave a person's work out of the results; False where nobody has that number."""
        with self.database.write() as connection:
            if self._standing(connection, participant) is None:
                return False
            self._end(connection, participant, "failed", [reason])
            return True

    def member(self, name: str) -> str | None:
        """The number of who has that id of the panel, or that hash in the table of payments."""
        panel = PANELS[self.study.config.panel.name]
        identity = json.dumps(dict.fromkeys(panel.person or ("visit",), name))
        hashes = (name, self.study.secrets.person(panel.name, identity))
        with self.database.read() as connection:
            return connection.execute(
                select(participants.c.id).where(participants.c.person.in_(hashes))
            ).scalar()

    def holder(self, code: str) -> str | None:
        """The number of the participant who has that code to withdraw."""
        wanted = code.strip().upper()
        with self.database.read() as connection:
            numbers = connection.execute(select(participants.c.id)).scalars().all()
        codes = ((self.study.secrets.withdrawal_code(id_), id_) for id_ in numbers)
        return next((id_ for own, id_ in codes if own == wanted), None)

    def withdraw(self, code: str) -> bool:
        """Remove everything of the person who has that code; a tombstone stays."""
        number = self.holder(code)
        if number is None:
            return False
        with self.database.write() as connection:
            self._remove(connection, number)
        self.database.scrub()
        return True

    def _remove(self, connection: Connection, id_: str) -> None:
        for table in (answers, leases, payments):
            connection.execute(table.delete().where(table.c.participant == id_))
        connection.execute(participants.delete().where(participants.c.id == id_))
        connection.execute(tombstones.insert().values(participant=id_, at=self.clock()))

    def forget_ids(self) -> int:
        with self.database.write() as connection:
            count = connection.execute(payments.delete()).rowcount
        self.database.scrub()
        return count


def _sent(connection: Connection, participant: str) -> dict[str, Any]:
    rows = connection.execute(
        select(answers.c.page, answers.c.sent)
        .where(answers.c.participant == participant)
        .order_by(answers.c.number)
    )
    return {page: json.loads(sent) for page, sent in rows}
