"""A study that is killed while people take part: nothing they were told is stored is lost, nothing
is stored twice, and every quota is met exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.fieldwork import Fieldwork, Served, audited
from tests.builders.postgres import emptied, postgres
from tests.builders.studies import small_survey

__all__ = ["postgres"]


def database_of(kind: str, request: pytest.FixtureRequest) -> str | None:
    return emptied(request.getfixturevalue("postgres")) if kind == "postgresql" else None


def assert_nothing_is_lost(
    folder: Path, url: str | None, groups: int, judgements: int, at_once: int, kills: int
) -> None:
    """With as many places as people who come at once."""
    study = small_survey(
        folder, groups, judgements=judgements, per_person=1, name="prolific", lease_minutes=0.25
    )
    with Served(folder, url) as served:
        fieldwork = Fieldwork(study, served)
        ledger = fieldwork.fill(at_once, kills)
        books = audited(fieldwork)
    assert (books.lost, books.changed, books.twice) == (0, 0, 0)
    assert books.places == {unit.name: judgements for unit in study.units}
    assert not ledger.faults
    assert ledger.broken >= kills


def test_two_kills_lose_nothing(tmp_path: Path) -> None:
    """On SQLite; PostgreSQL has the long one."""
    assert_nothing_is_lost(tmp_path / "s", None, groups=4, judgements=4, at_once=16, kills=2)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_ten_kills_among_two_hundred_people_lose_nothing(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    url = database_of(kind, request)
    assert_nothing_is_lost(tmp_path / "s", url, groups=20, judgements=10, at_once=200, kills=10)
