"""Who is given what: places at units, kept by leases, so that no quota is missed or passed.

A lease is `open` while a person works, `counted` when their work counts, `returned` when the place
is free again. A unit is full when its counted and its open, unexpired leases reach the quota.
Everything here runs inside a writing transaction, which only one process has at a time.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, and_, func, or_, select, update

from stereometer.studies.config import Quota
from stereometer.studies.database import leases, participants
from stereometer.studies.kinds.kind import Unit

OPEN, COUNTED, RETURNED = "open", "counted", "returned"


def places_taken(connection: Connection, now: float, version: int) -> Counter[str]:
    """Counted and open leases by unit, of the people of a version."""
    taken = (
        select(leases.c.unit, func.count().label("places"))
        .join(participants, participants.c.id == leases.c.participant)
        .where(participants.c.version == version)
        .where(
            or_(leases.c.state == COUNTED, and_(leases.c.state == OPEN, leases.c.expires_at > now))
        )
    )
    rows = connection.execute(taken.group_by(leases.c.unit))
    return Counter({row.unit: row.places for row in rows})


def chosen(
    units: Sequence[Unit], taken: Counter[str], quota: int, wanted: int, lot: random.Random
) -> list[str]:
    """Names of the least filled units that have a place left, at random among equals."""
    free = [unit.name for unit in units if taken[unit.name] < quota]
    lot.shuffle(free)
    return sorted(free, key=taken.__getitem__)[:wanted]


def lease(
    connection: Connection, participant: str, names: Sequence[str], expires_at: float
) -> None:
    if names:
        connection.execute(
            leases.insert(),
            [
                {
                    "participant": participant,
                    "unit": name,
                    "place": place,
                    "state": OPEN,
                    "expires_at": expires_at,
                }
                for place, name in enumerate(names, 1)
            ],
        )


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
