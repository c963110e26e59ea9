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

from stereometer.studies.database.tables import leases
from stereometer.studies.kinds.kind import Unit

OPEN, COUNTED, RETURNED = "open", "counted", "returned"


def places_taken(connection: Connection, now: float) -> Counter[str]:
    """Counted and open leases by unit."""
    taken = select(leases.c.unit, func.count().label("places")).where(
        or_(leases.c.state == COUNTED, and_(leases.c.state == OPEN, leases.c.expires_at > now))
    )
    rows = connection.execute(taken.group_by(leases.c.unit))
    return Counter({row.unit: row.places for row in rows})


def chosen(
    units: Sequence[Unit], taken: Counter[str], quota: int, wanted: int, lot: random.Random
) -> list[str]:
    """Names of the least filled units that have a place left, by lot among equals."""
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


def leased(connection: Connection, participant: str) -> tuple[str, ...]:
    """All units a person was given, in order, whatever became of them."""
    mine = select(leases.c.unit).where(leases.c.participant == participant)
    return tuple(connection.execute(mine.order_by(leases.c.place)).scalars())


def renew(
    connection: Connection, participant: str, quota: int, now: float, expires_at: float
) -> bool:
    """Keep a person's places; False where one had expired and somebody else has taken it."""
    mine = leases.c.participant == participant
    rows = connection.execute(
        select(leases.c.unit, leases.c.expires_at).where(mine, leases.c.state == OPEN)
    ).all()
    expired = [row.unit for row in rows if row.expires_at <= now]
    if expired:
        taken = places_taken(connection, now)
        if any(taken[unit] >= quota for unit in expired):
            return False
    if rows:
        still_open = update(leases).where(mine, leases.c.state == OPEN)
        connection.execute(still_open.values(expires_at=expires_at))
    return True


def settle(
    connection: Connection, participant: str, state: str, units: Collection[str] | None = None
) -> None:
    """Turn a person's open leases, or those of some units, into counted or returned ones."""
    mine = update(leases).where(leases.c.participant == participant, leases.c.state == OPEN)
    if units is not None:
        mine = mine.where(leases.c.unit.in_(units))
    connection.execute(mine.values(state=state))


def return_counted(connection: Connection, participant: str) -> None:
    """Give back places that had counted: the person's work is left out after all."""
    mine = leases.c.participant == participant
    connection.execute(update(leases).where(mine).values(state=RETURNED))
