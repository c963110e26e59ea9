"""A study on PostgreSQL: filled by many people at once, and moved there from SQLite."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from stereometer.core.errors import UsageError
from stereometer.wings.people.copies import backup_sqlite, move_to
from stereometer.wings.people.database import answers, leases, open_database
from stereometer.wings.people.people import COUNTED
from tests.builders.postgres import emptied, postgres
from tests.builders.studies import Desk, desk, finish, small_survey

pytestmark = pytest.mark.long

__all__ = ["postgres"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_many_people_at_once_fill_every_quota_and_pass_none(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    url = emptied(request.getfixturevalue("postgres")) if kind == "postgresql" else None
    study = small_survey(tmp_path / "s", judgements=4, per_person=2)
    person = Desk(study, open_database(study.folder, url))

    def take_part(number: int) -> str | None:
        participant = person.arrive(f"person {number}")
        return finish(person, participant) if participant else "full"

    with ThreadPoolExecutor(8) as pool:
        outcomes = Counter(pool.map(take_part, range(30)))
    with person.database.read() as connection:
        counted = connection.execute(select(leases.c.unit).where(leases.c.state == COUNTED))
        units = list(counted.scalars())
        stored = connection.execute(select(answers.c.participant, answers.c.page)).all()
    person.database.close()
    assert set(outcomes) <= {"complete", "full"}
    assert {units.count(unit.name) for unit in study.units} == {4}
    assert len(set(stored)) == len(stored)


def test_a_study_moves_from_sqlite_to_postgresql_and_goes_on(tmp_path: Path, postgres: str) -> None:
    url = emptied(postgres)
    study = small_survey(tmp_path / "s", judgements=4, per_person=2)
    before = desk(study)
    first = before.arrive("anna")
    assert first is not None
    finish(before, first)
    with pytest.raises(UsageError, match="in use"):
        move_to(study.folder, url)
    before.database.close()
    assert move_to(study.folder, url) > 0
    with pytest.raises(UsageError, match="already holds answers"):
        move_to(study.folder, url)
    after = Desk(study, open_database(study.folder, url), lot=random.Random(8))
    second = after.arrive("berta")
    assert second is not None
    assert finish(after, second) == "complete"
    assert after.arrive("anna") == first
    with pytest.raises(DBAPIError, match="never changed"), after.database.write() as connection:
        connection.execute(answers.update().values(sent="{}"))
    count, remains = after.participation.forget_ids()
    assert count == 2
    assert "write-ahead log (pg_wal)" in remains
    after.database.close()


def test_a_backup_is_made_while_the_study_is_open_and_never_replaces_another(
    tmp_path: Path,
) -> None:
    person = desk(small_survey(tmp_path / "s", per_person=2))
    participant = person.arrive("anna")
    assert participant is not None
    finish(person, participant)
    backup_sqlite(person.study.folder, tmp_path / "copy.sqlite")
    with pytest.raises(UsageError, match="exists"):
        backup_sqlite(person.study.folder, tmp_path / "copy.sqlite")
    (tmp_path / "copy.sqlite").rename(person.study.folder / "study.sqlite")
    restored = desk(person.study)
    standing = restored.participation.standing(participant)
    assert standing is not None
    assert standing.outcome == "complete"
