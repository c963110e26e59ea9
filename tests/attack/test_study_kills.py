"""A study that is killed while people take part: nothing they were told is stored is lost, nothing
is stored twice, and every quota is met exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.fieldwork import Fieldwork, Served, audited
from tests.builders.postgres import emptied, postgres
from tests.builders.studies import small_survey

pytestmark = pytest.mark.long

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


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_four_kills_among_forty_people_lose_nothing(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    url = database_of(kind, request)
    assert_nothing_is_lost(tmp_path / "s", url, groups=8, judgements=5, at_once=40, kills=4)
