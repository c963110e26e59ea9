"""From consent to the last page: what is shown next, what is stored, how it ends.

Nothing is remembered about where a person is: the next page is the first one without an answer.
"""

import json
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, select, update

from stereometer.wings.people import database as db
from stereometer.wings.people.config import person_parameter
from stereometer.wings.people.fields import Form
from stereometer.wings.people.kinds.kind import INSTRUCTIONS, Page, Respondent, last_pages
from stereometer.wings.people.people import (
    COUNTED,
    OPEN,
    RETURNED,
    everybody,
    kept,
    lease,
    least_filled,
    places_taken,
    renew,
    settle,
    withheld,
)
from stereometer.wings.people.study import Study, current, join, study_of, versions_of

PAUSED = "paused"
FIRST = Page(INSTRUCTIONS, "instructions.html", Form(()))
EXPIRED = "expired"
"""Why somebody's participation ended whose places were given to others."""
NEAR = 4
"""People whose demographics are withheld with each withdrawal: who it was is one of five."""


@dataclass(frozen=True)
class PanelArrival:
    """Who comes, and how; nothing of it is stored before consent."""

    panel: str
    ids: Mapping[str, str]
    """As the panel names them; they are stored for payment only."""
    language: str

    @property
    def identity(self) -> str:
        """What says who it is, whichever session they come in."""
        names = person_parameter(self.panel) or tuple(self.ids)
        return json.dumps({name: self.ids[name] for name in names})

    @property
    def visit(self) -> str:
        """What says that it is they: others may know a person's id, but not that of the session."""
        return json.dumps(dict(self.ids), sort_keys=True)


class OtherVisit(Exception):
    """Somebody who is known comes in a session that nobody has begun here."""


@dataclass(frozen=True)
class Standing:
    """Where a person is: the page to show, or the outcome."""

    study: Study
    """As it was when they consented."""
    person: Respondent
    page: Page | None
    outcome: str | None
    steps: int = 0
    done: int = 0
    expired: bool = False
    """Whether places of theirs were given to others, because nothing came for too long."""
    version: int = 1


@dataclass(frozen=True)
class Participation:
    study: Study
    database: db.Database
    clock: Callable[[], float] = time.time
    lot: random.Random = field(default_factory=secrets.SystemRandom)
    versions: dict[int, Study] = field(default_factory=dict)
    """Those that people have come back to, by number."""

    # -------------------------------------------------------------------------------- coming in

    def has_room(self) -> bool:
        with self.database.read() as connection:
            taken = places_taken(connection, self.clock(), current(connection))
        quota = self.study.config.quota.judgements
        return any(taken[unit.name] < quota for unit in self.study.units)

    def paused(self) -> bool:
        paused = select(db.controls.c.value).where(db.controls.c.name == PAUSED)
        with self.database.read() as connection:
            return connection.execute(paused).scalar() == "yes"

    def known(self, arrival: PanelArrival) -> str | None:
        """The number of somebody who has consented before; None of who is new."""
        with self.database.read() as connection:
            return self._known(connection, arrival)

    def _known(self, connection: Connection, arrival: PanelArrival) -> str | None:
        hashed, people = self.study.secrets.person, db.participants.c
        same = people.person == hashed(arrival.panel, arrival.identity)
        row = connection.execute(select(people.id, people.visit).where(same)).one_or_none()
        if row is not None and row.visit != hashed(arrival.panel, arrival.visit):
            raise OtherVisit
        return str(row.id) if row is not None else None

    def consent(self, arrival: PanelArrival) -> str | None:
        """The participant's number, new or from before; None where no place is left."""
        with self.database.write() as connection:
            return self._known(connection, arrival) or self._enrol(connection, arrival)

    def _enrol(self, connection: Connection, arrival: PanelArrival) -> str | None:
        version = join(connection, self.study, self.clock())
        hashed = self.study.secrets.person
        person = hashed(arrival.panel, arrival.identity)
        now, quota = self.clock(), self.study.config.quota
        taken = places_taken(connection, now, version)
        others = [unit for unit in self.study.units if unit.writer != person]
        names = least_filled(others, taken, quota.judgements, quota.per_person, self.lot)
        if not names:
            return None
        id_ = f"{self.lot.getrandbits(64):016x}"
        connection.execute(
            db.participants.insert().values(
                id=id_,
                person=person,
                visit=hashed(arrival.panel, arrival.visit),
                version=version,
                panel=arrival.panel,
                language=arrival.language,
                consented_at=now,
            )
        )
        ids = json.dumps(dict(arrival.ids))
        connection.execute(db.payments.insert().values(participant=id_, ids=ids))
        lease(connection, id_, names, quota.expiry(now))
        return id_

    # ---------------------------------------------------------------------------- page after page

    def standing(self, participant: str) -> Standing | None:
        """None where nobody has that number, or has withdrawn."""
        with self.database.read() as connection:
            return self._standing(connection, participant)

    def _standing(self, connection: Connection, participant: str) -> Standing | None:
        for found in everybody(connection, participant):
            number, person = found.version, found.person
            if number not in self.versions:
                version = next(each for each in versions_of(connection) if each.number == number)
                self.versions[number] = study_of(self.study, version)
            study = self.versions[number]
            if found.outcome is not None:
                expired = EXPIRED in found.failed_checks
                return Standing(study, person, None, found.outcome, expired=expired)
            # On the first page without an answer whose place is still theirs.
            pages, gone = pages_of(study, person), found.returned
            left = [page for page in pages if page.key not in person.answers]
            left = [page for page in left if page.unit not in gone]
            due, done = left[0] if left else None, len(pages) - len(left)
            return Standing(study, person, due, None, len(pages), done, version=number)
        return None

    def submit(self, participant: str, key: str, values: Mapping[str, Any]) -> Standing | None:
        """Store an answer once; a page that was sent before, or is not due, changes nothing."""
        with self.database.write() as connection:
            before = self._standing(connection, participant)
            if before is None or before.page is None or before.page.key != key:
                return before
            if key == INSTRUCTIONS:
                values = before.study.kind.arrangement(before.study, before.person)
            quota, counts_at_once = before.study.config.quota, before.study.kind.counts_at_once
            lost = renew(connection, participant, before.version, quota, self.clock())
            if before.page.unit not in lost or not counts_at_once:
                self._store(connection, before, values)
            (now,) = everybody(connection, participant)
            nothing_left = now.returned == set(now.person.units)
            if lost and (nothing_left or not counts_at_once):  # the rest would not count
                self._end(connection, participant, "left", [EXPIRED])
            after = self._standing(connection, participant)
            if after is not None and after.page is None and after.outcome is None:
                after = replace(after, outcome=self._finish(connection, after))
            return after and replace(after, expired=bool(lost))

    def _store(self, connection: Connection, standing: Standing, values: Mapping[str, Any]) -> None:
        page, participant = standing.page, standing.person.id
        assert page is not None
        connection.execute(
            db.answers.insert().values(
                participant=participant,
                page=page.key,
                unit=page.unit,
                sent=json.dumps(dict(values), ensure_ascii=False),
                at=self.clock(),
            )
        )
        if page.unit is not None and standing.study.kind.counts_at_once:
            settle(connection, participant, COUNTED, [page.unit])

    # --------------------------------------------------------------------------------- the end

    def _finish(self, connection: Connection, standing: Standing) -> str:
        study, person = standing.study, standing.person
        checks = study.kind.checks(study, person)
        failed = sorted(name for name, passed in checks.items() if not passed)
        outcome = "failed" if failed else "complete"
        self._end(connection, person.id, outcome, failed)
        return outcome

    def _end(
        self, connection: Connection, participant: str, outcome: str, failed: Sequence[str]
    ) -> None:
        state = COUNTED if outcome == "complete" else RETURNED
        before = (OPEN, COUNTED) if outcome == "failed" else (OPEN,)
        settle(connection, participant, state, before=before)
        own, checks = db.participants.c.id == participant, json.dumps(list(failed))
        ended = {"outcome": outcome, "finished_at": self.clock(), "failed_checks": checks}
        connection.execute(update(db.participants).where(own).values(ended))

    def leave(self, participant: str) -> None:
        with self.database.write() as connection:
            standing = self._standing(connection, participant)
            if standing is not None and standing.outcome is None:
                self._end(connection, participant, "left", [])

    # ------------------------------------------------------------------- what researchers do

    def pause(self, paused: bool) -> None:
        with self.database.write() as connection:
            connection.execute(db.controls.delete().where(db.controls.c.name == PAUSED))
            value = "yes" if paused else "no"
            connection.execute(db.controls.insert().values(name=PAUSED, value=value))

    def exclude(self, participant: str, reason: str) -> bool:
        """Leave a person's work out of the results; False where nobody has that number."""
        with self.database.write() as connection:
            if self._standing(connection, participant) is None:
                return False
            self._end(connection, participant, "failed", [reason])
            return True

    def member(self, name: str) -> str | None:
        """The number of who has that id of the panel, or that hash in the table of payments."""
        panel = self.study.config.panel.name
        identity = json.dumps(dict.fromkeys(person_parameter(panel) or ("visit",), name))
        hashes = (name, self.study.secrets.person(panel, identity))
        number = select(db.participants.c.id).where(db.participants.c.person.in_(hashes))
        with self.database.read() as connection:
            return connection.execute(number).scalar()

    def holder(self, code: str) -> str | None:
        """The number of the participant who has that code, also of one who has withdrawn: the
        files may still have to be cleared."""
        wanted = code.strip().upper()
        numbers = select(db.participants.c.id).union(select(db.tombstones.c.participant))
        code_of = self.study.secrets.withdrawal_code
        with self.database.read() as connection:
            everyone = connection.execute(numbers).scalars()
            return next((id_ for id_ in everyone if code_of(id_) == wanted), None)

    def withdraw(self, number: str) -> str:
        """Remove everything of a person, but a tombstone; where traces of it may remain."""
        with self.database.write() as connection:
            if everybody(connection, number):
                self._remove(connection, number)
        return self.database.scrub()

    def _remove(self, connection: Connection, id_: str) -> None:
        beside = json.dumps(self._beside(connection, id_))
        for table in (db.answers, db.leases, db.payments):
            connection.execute(table.delete().where(table.c.participant == id_))
        connection.execute(db.participants.delete().where(db.participants.c.id == id_))
        grave = {"participant": id_, "at": self.clock(), "beside": beside}
        connection.execute(db.tombstones.insert().values(grave))

    def _beside(self, connection: Connection, id_: str) -> list[str]:
        """Others whose rows leave the table of demographics with somebody's own: of the same
        version, and in it until now. Where there are fewer, it has withheld everything already."""
        people = {each.person.id: each for each in everybody(connection)}
        its = [each for each in people.values() if each.version == people[id_].version]
        counted = {each.person.id for each in kept(its, self.study.kind.counts_at_once)}
        shown = counted - withheld(connection)
        others = sorted(shown - {id_}) if id_ in shown else []
        return self.lot.sample(others, min(NEAR, len(others)))

    def forget_ids(self) -> tuple[int, str]:
        """How many were deleted, and where traces of them may remain."""
        with self.database.write() as connection:
            count = connection.execute(db.payments.delete()).rowcount
        return count, self.database.scrub()


def pages_of(study: Study, person: Respondent) -> Sequence[Page]:
    return [FIRST, *study.kind.pages(study, person), *last_pages(study, person)]
