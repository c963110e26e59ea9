"""A study run for real: behind nginx with HTTPS, by several processes, saved, brought back and
moved while people take part."""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import select

from stereometer.wings.people.copies import backup_sqlite, move_to, restore_sqlite
from stereometer.wings.people.database import answers, open_database
from stereometer.wings.people.rehearsal import read_form
from stereometer.wings.people.study import Study
from tests.builders.commands import assert_refused, call
from tests.builders.fieldwork import Fieldwork, Ledger, Served, Visit, audited
from tests.builders.nginx import nginx
from tests.builders.postgres import emptied, postgres
from tests.builders.studies import small_survey

pytestmark = pytest.mark.long

__all__ = ["postgres"]


def survey(folder: Path) -> Study:
    return small_survey(folder, 4, judgements=3, per_person=2, name="prolific", lease_minutes=0.25)


# ------------------------------------------------------------------------------- behind a proxy


def test_https_behind_nginx(tmp_path: Path) -> None:
    study = survey(tmp_path / "s")
    options = ("--https", "--proxy", "127.0.0.1", "--name", "study.example.org")
    served = Served(study.folder, options=options)
    with nginx(tmp_path / "nginx", [served.port]) as address, served:
        trusted = ssl.create_default_context(cafile=str(tmp_path / "nginx" / "cert.pem"))
        with httpx2.Client(base_url=address, verify=trusted, follow_redirects=True) as client:
            client.headers["host"] = "study.example.org"
            arrival = _through_proxy(client, "/?PROLIFIC_PID=a&STUDY_ID=b&SESSION_ID=c")
            cookie = arrival.headers["set-cookie"].casefold()
            seen = read_form(arrival.text)
            page = client.post("/consent", data={**seen.hidden, "agree": "yes"})
            other = client.get("/", headers={"host": "evil.example"})
    assert "secure" in cookie
    assert "httponly" in cookie
    assert read_form(page.text).action == "/page/instructions"
    assert other.status_code == 400


def _through_proxy(client: httpx2.Client, path: str) -> httpx2.Response:
    """nginx may not listen yet."""
    until = time.monotonic() + 60
    while True:
        try:
            return client.get(path)
        except httpx2.TransportError:
            assert time.monotonic() < until
            time.sleep(0.1)


@pytest.mark.parametrize(("proxy", "blamed"), [((), 429), (("--proxy", "127.0.0.1"), 403)])
def test_forwarded_addresses_are_believed_only_from_a_proxy_that_is_named(
    tmp_path: Path, proxy: tuple[str, ...], blamed: int
) -> None:
    """Wrong tokens, each said to come from elsewhere: without --proxy it is one address."""
    study = survey(tmp_path / "s")
    with Served(study.folder, options=proxy) as served:
        statuses = [
            httpx2.post(
                f"{served.address}/admin/enter",
                data={"token": f"wrong {number}"},
                headers={"x-forwarded-for": f"10.0.0.{number}"},
            ).status_code
            for number in range(12)
        ]
    assert statuses[0] == 403
    assert (429 in statuses) == (blamed == 429)


# ---------------------------------------------------------------------------- several processes


def test_two_processes_serve_one_study_on_postgresql(tmp_path: Path, postgres: str) -> None:
    url, study = emptied(postgres), survey(tmp_path / "s")
    with ExitStack() as stack:
        first, second = (stack.enter_context(Served(study.folder, url)) for _ in range(2))
        fieldwork = Fieldwork(study, first, others=(second,))
        ledger = fieldwork.fill(8, kills=1)
        books = audited(fieldwork)
    assert (books.lost, books.changed, books.twice) == (0, 0, 0)
    assert books.places == {unit.name: 3 for unit in study.units}
    assert not ledger.faults


# ---------------------------------------------------------------------- saved, restored, moved


def test_a_backup_while_serving_holds_all_that_was_acknowledged_and_is_restored(
    tmp_path: Path, postgres: str
) -> None:
    study, copy = survey(tmp_path / "s"), tmp_path / "copy.sqlite"
    with Served(study.folder) as served:
        before = some_people(study, served, 3).acknowledged
        backup_sqlite(study.folder, copy)
        assert copy.stat().st_mode & 0o077 == 0
        assert_refused(call("study", "restore", study.folder, copy), 2, "in use")
        some_people(study, served, 5)
    aside = restore_sqlite(study.folder, copy)
    assert stored(study) == len(before)
    assert aside.exists()
    assert_refused(call("study", "restore", study.folder, __file__), 2, "not a whole backup")
    goes_on_postgresql(study, emptied(postgres), len(before))


def goes_on_postgresql(study: Study, url: str, count: int) -> None:
    """A study, with its answers, served from PostgreSQL until it is filled."""
    move_to(study.folder, url)
    assert stored(study, url) == count
    with Served(study.folder, url) as served:
        fieldwork = Fieldwork(study, served, names=100)
        fieldwork.fill(6)
        books = audited(fieldwork)
    assert (books.lost, books.twice) == (0, 0)
    assert books.places == {unit.name: 3 for unit in study.units}


def some_people(study: Study, served: Served, until: int) -> Ledger:
    """Careful people, one after another, up to this number."""
    fieldwork = Fieldwork(study, served, manners={"careful": 1.0})

    async def go() -> None:
        for number in range(1, until + 1):
            lot = random.Random(number)
            await Visit(fieldwork, f"person-{number}", "careful", lot).take_part()

    asyncio.run(go())
    return fieldwork.ledger


def stored(study: Study, url: str | None = None) -> int:
    database = open_database(study.folder, url)
    with database.read() as connection:
        count = len(connection.execute(select(answers.c.number)).all())
    database.close()
    return count
