"""Everybody who took part, read from the database: what exports and progress are made of (those of
one version are an edition); and who is given what: places at units, kept by leases, so that no
quota is missed or passed.

A lease is `open` while a person works, `counted` when their work counts, `returned` when the place
is free again. A unit is full when its counted and its open, unexpired leases reach the quota.
Places change inside a writing transaction, which only one process has at a time.
"""

import json
import random
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Row, and_, func, or_, select, true, update

from stereometer.core.errors import UsageError
from stereometer.core.types.groups import lists_by_key
from stereometer.wings.people.config import Quota
from stereometer.wings.people.database import Database, answers, leases, participants, tombstones
from stereometer.wings.people.kinds.kind import Respondent, Unit
from stereometer.wings.people.study import Study, Version, open_answers, study_of, versions_of


@dataclass(frozen=True)
class Participant:
    person: Respondent
    hash: str
    """The keyed hash under which a panel's id is known."""
    panel: str
    version: int
    """Of the materials and texts that they consented to."""
    consented_at: float
    finished_at: float | None
    outcome: str | None
    """None while it goes on."""
    failed_checks: tuple[str, ...]
    times: dict[str, float]
    """When each page was sent."""
    returned: frozenset[str] = frozenset()
    """Units whose places others may have."""

    @property
    def passed(self) -> bool:
        return self.outcome == "complete"


def everybody(connection: Connection, number: str | None = None) -> list[Participant]:
    """In the order of their consent; only who has that number, where one is given."""

    def of(column: Column[str]) -> ColumnElement[bool]:
        return true() if number is None else column == number

    people = select(participants).where(of(participants.c.id)).order_by(participants.c.consented_at)
    held = select(leases).where(of(leases.c.participant)).order_by(leases.c.place)
    sent = select(answers).where(of(answers.c.participant)).order_by(answers.c.number)
    places = lists_by_key((row.participant, row) for row in connection.execute(held))
    pages = lists_by_key((row.participant, row) for row in connection.execute(sent))
    return [
        _participant(row, places.get(row.id, ()), pages.get(row.id, ()))
        for row in connection.execute(people)
    ]


def _participant(
    row: Row[Any], places: Sequence[Row[Any]], pages: Sequence[Row[Any]]
) -> Participant:
    said = {page.page: json.loads(page.sent) for page in pages}
    return Participant(
        Respondent(row.id, tuple(place.unit for place in places), said, row.language),
        row.person,
        row.panel,
        row.version,
        row.consented_at,
        row.finished_at,
        row.outcome,
        tuple(json.loads(row.failed_checks)),
        {page.page: page.at for page in pages},
        frozenset(place.unit for place in places if place.state == RETURNED),
    )


def withheld(connection: Connection) -> frozenset[str]:
    """Whose demographics are withheld: two exports must not tell who withdrew."""
    lists = connection.execute(select(tombstones.c.beside)).scalars()
    return frozenset(id_ for beside in lists for id_ in json.loads(beside))


def failed_checks(people: Sequence[Participant]) -> Counter[str]:
    """How many failed each check, of those who failed."""
    ended = [each for each in people if each.outcome == "failed"]
    return Counter(check for each in ended for check in each.failed_checks)


def kept(people: Sequence[Participant], counts_at_once: bool) -> list[Participant]:
    """Those whose answers count: who passed, and, where a page counts at once, who left midway."""
    if not counts_at_once:
        return [participant for participant in people if participant.passed]
    return [participant for participant in people if participant.outcome != "failed"]


@dataclass(frozen=True)
class Edition:
    study: Study
    people: Sequence[Participant]
    hidden: frozenset[str] = frozenset()
    """Those whose demographics are withheld."""
    version: Version | None = None
    """None before anybody has consented."""
    count: int = 1

    @property
    def counted(self) -> list[Participant]:
        return kept(self.people, self.study.kind.counts_at_once)

    @property
    def fact(self) -> str:
        """What is said of versions: nothing where there was but one."""
        if self.count == 1 or self.version is None:
            return ""
        return (
            f"These are answers to version {self.version.number} of {self.count}; those to the "
            "others are not among them."
        )


def edition_of(study: Study, database: Database, number: int | None = None) -> Edition:
    """A version by its number, or the one that people join now."""
    with database.read() as connection:
        known = {version.number: version for version in versions_of(connection)}
        hidden, people = withheld(connection), everybody(connection)
    if number is not None and number not in known:
        raise UsageError(
            f"{study.folder} has no version {number}. Its versions are "
            f"{', '.join(map(str, known)) or 'none yet'}. Name one of them, or leave it out."
        )
    if not known:
        return Edition(study, ())
    version = known[number or max(known)]
    its = [each for each in people if each.version == version.number]
    return Edition(study_of(study, version), its, hidden, version, len(known))


def open_edition(study: Study, url: str | None = None, number: int | None = None) -> Edition:
    """An edition from a study's database, whose folder is still what people have consented to."""
    with closing(open_answers(study, url)) as database:
        return edition_of(study, database, number)


OPEN, COUNTED, RETURNED = "open", "counted", "returned"


def places_taken(connection: Connection, now: float, version: int) -> Counter[str]:
    """Counted and open leases by unit, of the people of a version."""
    is_open = and_(leases.c.state == OPEN, leases.c.expires_at > now)
    taken = (
        select(leases.c.unit, func.count().label("places"))
        .join(participants, participants.c.id == leases.c.participant)
        .where(participants.c.version == version, or_(leases.c.state == COUNTED, is_open))
        .group_by(leases.c.unit)
    )
    return Counter({row.unit: row.places for row in connection.execute(taken)})


def least_filled(
    units: Sequence[Unit], taken: Counter[str], quota: int, wanted: int, lot: random.Random
) -> list[str]:
    """Names of the least filled units that have a place left, at random among equals."""
    free = [unit.name for unit in units if taken[unit.name] < quota]
    lot.shuffle(free)
    return sorted(free, key=taken.__getitem__)[:wanted]


def lease(
    connection: Connection, participant: str, names: Sequence[str], expires_at: float
) -> None:
    each = {"participant": participant, "state": OPEN, "expires_at": expires_at}
    rows = [{**each, "unit": name, "place": place} for place, name in enumerate(names, 1)]
    connection.execute(leases.insert(), rows)


def renew(
    connection: Connection, participant: str, version: int, quota: Quota, now: float
) -> set[str]:
    """Keep a person's places; those that had expired and that others have taken are returned."""
    mine = leases.c.participant == participant, leases.c.state == OPEN
    rows = connection.execute(select(leases.c.unit, leases.c.expires_at).where(*mine)).all()
    expired = [row.unit for row in rows if row.expires_at <= now]
    taken = places_taken(connection, now, version) if expired else Counter()
    lost = {unit for unit in expired if taken[unit] >= quota.judgements}
    settle(connection, participant, RETURNED, lost)
    connection.execute(update(leases).where(*mine).values(expires_at=quota.expiry(now)))
    return lost


def settle(
    connection: Connection,
    participant: str,
    state: str,
    units: Collection[str] | None = None,
    before: Collection[str] = (OPEN,),
) -> None:
    """Turn a person's open leases, or those of some units, into counted or returned ones; those
    that had counted too, where the person's work is left out after all."""
    mine = update(leases).where(leases.c.participant == participant, leases.c.state.in_(before))
    if units is not None:
        mine = mine.where(leases.c.unit.in_(units))
    connection.execute(mine.values(state=state))
