"""People who are inside and mean no good: whatever they send, the server goes on, nothing is
executed or redirected elsewhere, and only what a form allows is stored."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from stereometer.wings.people.database import answers, open_database, participants
from stereometer.wings.people.fields import FORMULA_SIGNS, tidy
from stereometer.wings.people.kinds import KINDS
from stereometer.wings.people.new import new_study
from stereometer.wings.people.pages import participant
from stereometer.wings.people.pages.app import Limits
from stereometer.wings.people.rehearsal import Careful, SeenForm, VisitMemory, read_form
from stereometer.wings.people.study import Study
from stereometer.wings.people.tables import write_table
from tests.builders.studies import Browser, app_of, set_toml, small_survey, stored

PIECES = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "${7*7}", "%s%n",
    "'; DROP TABLE answers; --", "=HYPERLINK(1)", "\x00", "\ud800", "\u202e", "../../etc/passwd",
    "9" * 400, "-1", "1e309", "NaN", "\r\nSet-Cookie: a=b", "prefer-not-to-say", "BLANK", "t0",
    "none", "preview", "//evil.example", "https://evil.example",
)  # fmt: skip
TEXTS = st.one_of(st.sampled_from(PIECES), st.text(max_size=300))
QUERIES = ("", "?PROLIFIC_PID=%00", "?lang=%3Cscript%3E", "?change=1", "?next=//evil.example")
GETS = ("/", "/page", "/page/", "/leave", "/end", "/admin", "/admin/", "/admin/export.zip",
        "//evil.example", "/static/", "/static/..%2f..%2fapp.py", "/page/rate-1")  # fmt: skip


class Intruder:
    """Somebody who has consented, with a form token that is theirs."""

    def __init__(self, study: Study) -> None:
        self.study, self.app = study, app_of(study)
        self.memory = VisitMemory(random.Random(1))

    def client(self) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(app=self.app)
        return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1")

    async def consented(self, client: httpx2.AsyncClient) -> SeenForm:
        seen = read_form((await client.get("/")).text)
        await client.post("/consent", data={**seen.hidden, "agree": "yes"})
        return read_form((await client.get("/page")).text)

    async def attack(self, spoilt: dict[str, str], path: str, ahead: int) -> list[httpx2.Response]:
        async with self.client() as client:
            seen = await self.consented(client)
            for _ in range(ahead):
                sent = {**seen.hidden, **Careful()(self.study, seen, self.memory)}
                await client.post(seen.action, data=sent)
                seen = read_form((await client.get("/page")).text)
            names = list(seen.controls) or ["x"]
            values = dict(zip(names * 3, spoilt.values(), strict=False))
            data = {**seen.hidden, **values, **{key[:40]: key for key in spoilt}}
            hostile = encoded({**data, "token": seen.hidden.get("token", "")})
            headers = {"content-type": "application/x-www-form-urlencoded"}
            return [
                await client.post(seen.action or "/consent", content=hostile, headers=headers),
                await client.post("/consent", content=hostile, headers=headers),
                await client.get(path),
                await client.get("/page"),
            ]


def encoded(data: dict[str, str]) -> bytes:
    return b"&".join(
        b"=".join(quote_from_bytes(part.encode("utf-8", "surrogatepass")).encode() for part in pair)
        for pair in data.items()
    )


@pytest.fixture(scope="module", params=list(KINDS))
def intruder(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Intruder:
    folder: Path = tmp_path_factory.mktemp("hostile") / "s"
    new_study(request.param, folder)
    return Intruder(set_toml(folder, judgements=500))


@pytest.mark.long
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    spoilt=st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=8),
    path=st.sampled_from([path + query for path in GETS for query in QUERIES]),
    ahead=st.integers(0, 2),
)
def test_whatever_somebody_inside_sends_the_server_goes_on(
    intruder: Intruder, spoilt: dict[str, str], path: str, ahead: int
) -> None:
    for reply in asyncio.run(intruder.attack(spoilt, path, ahead)):
        assert reply.status_code < 500
        location = reply.headers.get("location", "/page")
        assert location in ("/page", "/end", "/admin")
        body = reply.text
        assert not any(piece in body for piece in PIECES[:2])


def test_only_what_forms_allow_is_stored(intruder: Intruder) -> None:
    """After the attacks: each stored answer has the fields of its page, read by its form."""
    study = intruder.study
    rows = stored(study, select(answers))
    for row in [row for row in rows if row.page != "instructions"]:  # nobody sends what is drawn
        values = json.loads(row.sent)
        assert all(value is None or isinstance(value, int | str) for value in values.values())
        for value in (value for value in values.values() if isinstance(value, str)):
            assert len(value) <= 2000
            assert tidy(value) == value
            assert row.page == "comments" or value[:1] not in tuple(FORMULA_SIGNS)
        if row.page.startswith("rate"):
            assert all(0 <= value <= 100 for value in values.values())
            assert len(values) == 16


def test_cells_that_a_table_program_would_run_are_made_harmless(tmp_path: Path) -> None:
    hostile = ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "plain", 5, -5]
    path = write_table(tmp_path / "t.csv", ["a"], [{"a": value} for value in hostile])
    cells = path.read_bytes().decode().replace('"', "").split("\n")
    assert cells[1:5] == ["'=1+1", "'+1", "'-1", "'@a"]
    assert cells[-4:-1] == ["plain", "5", "-5"]
    assert sum(cell.startswith("'") for cell in cells) == 6


def test_a_person_who_sends_too_much_is_turned_away_and_others_are_not(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s", per_person=2)
    client = Browser(study, Limits((0, 6), (1e9, 1e9)))
    client.consented()
    replies = [client.get("/page").status_code for _ in range(7)]
    client.cookies.clear()
    assert [replies[0], replies[-1], client.get("/").status_code] == [200, 429, 200]


def test_files_with_ids_are_for_their_owner_only(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s", per_person=2)
    open_database(study.folder).close()
    for name in ("secrets.json", "study.sqlite"):
        assert (study.folder / name).stat().st_mode & 0o077 == 0


def test_a_visit_that_is_too_old_or_tampered_with_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_survey(tmp_path / "s", per_person=2)
    client = Browser(study)
    client.consented()
    inside = client.get("/page").status_code
    with monkeypatch.context() as later:
        later.setattr(participant, "HOURS", -1)
        old = client.get("/page").status_code
    signed = client.cookies["study"]
    client.cookies.clear()
    forged = client.get("/page", headers={"cookie": f"study=x{signed[1:]}"})
    assert [inside, old, forged.status_code] == [200, 403, 403]


def test_a_database_that_fails_is_said_and_nothing_is_half_stored(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s", languages=("de",), per_person=2)
    client = Browser(study)
    consent = client.get("/")
    database = open_database(study.folder)
    with database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE leases RENAME TO elsewhere")
    database.close()
    reply = client.agree(consent)
    assert stored(study, select(participants)) == []
    assert reply.status_code == 503
    assert reply.headers["retry-after"] == "60"
    assert "laden Sie die Seite in einer Minute neu" in reply.text
