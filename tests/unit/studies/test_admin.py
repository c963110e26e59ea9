"""The researcher's page: behind a token, without ids of panels, with everything that happens."""

from __future__ import annotations

import asyncio
import io
import json
import re
import zipfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from stereometer.studies.pages import admin
from stereometer.studies.progress import as_document
from stereometer.studies.rehearsal.forms import read_form
from stereometer.studies.secrets import new_admin_token
from stereometer.studies.study import Study
from tests.builders.studies import UNLIMITED, Desk, client_of, desk, small_survey, valid_answer

Visit = Callable[[httpx2.AsyncClient], Awaitable[Any]]
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Three who passed, one of whom left a comment, and one who failed."""
    study = small_survey(tmp_path / "s", per_person=2, name="prolific")
    person = desk(study)
    for at, name in enumerate(("anna-id", "berta-id", "carla-id")):
        ratings = {f"t{number}": 70 + at + number for number in range(3)}
        take_part(person, name, dict.fromkeys(("rate-1", "rate-2", "rate-again"), ratings))
    take_part(
        person, "dora-id", {"check-name": {"name": "no group"}, "comments": {"comments": HOSTILE}}
    )
    person.database.close()
    return study


def take_part(person: Desk, name: str, own: Mapping[str, dict[str, Any]]) -> None:
    participant = str(person.arrive(name))
    while (due := valid_answer(person, participant)) is not None:
        page, values = due
        person.participation.submit(participant, page, own.get(page, values))


def visit(study: Study, go: Visit) -> Any:
    async def inside() -> Any:
        async with client_of(study, UNLIMITED) as client:
            return await go(client)

    return asyncio.run(inside())


async def entered(client: httpx2.AsyncClient, token: str) -> httpx2.Response:
    return await client.post("/admin/enter", data={"token": token})


def test_it_shows_what_happened_and_no_ids(study: Study) -> None:
    token = new_admin_token(study.folder)
    page = visit(study, lambda client: entered(client, token)).text
    words = re.sub(r"<[^>]+>|\s+", " ", page)
    for shown in ("complete 3", "failed 1", "name 3 75 %", "traits 4 100 %", "repeat 4 100 %"):
        assert shown in re.sub(r" +", " ", words), shown
    assert "Cost so far: 8.00 USD" in words
    assert "Krippendorff" in words
    assert "rate-1" in words
    assert "4 comments" in words
    assert "-id" not in page
    assert HOSTILE not in page


def test_names_of_units_and_comments_stand_behind_a_click(study: Study) -> None:
    token = new_admin_token(study.folder)
    page = visit(study, lambda client: entered(client, token)).text
    without = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert all(unit.name in page for unit in study.units)
    assert not any(f">{unit.name}<" in without for unit in study.units)
    assert "alert(1)" not in without


def test_the_export_is_downloaded_without_ids(study: Study) -> None:
    token = new_admin_token(study.folder)

    async def go(client: httpx2.AsyncClient) -> tuple[int, httpx2.Response]:
        before = await client.get("/admin/export.zip")
        await entered(client, token)
        return before.status_code, await client.get("/admin/export.zip")

    refused, reply = visit(study, go)
    assert refused == 403
    with zipfile.ZipFile(io.BytesIO(reply.content)) as archive:
        assert {"ratings.csv", "croissant.json", "data-statement.md"} <= set(archive.namelist())
        assert not any(b"-id" in archive.read(name) for name in archive.namelist())


def test_a_new_token_counts_at_once_and_ends_sessions_of_the_old_one(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> tuple[str, str, int]:
        old = new_admin_token(study.folder)
        inside = (await entered(client, old)).text
        new = new_admin_token(study.folder)
        after = (await client.get("/admin")).text
        await entered(client, new)
        return inside, after, (await entered(client, old)).status_code

    inside, after, wrong = visit(study, go)
    assert "<h1>Progress" in inside
    assert 'name="token"' in after
    assert "<h1>Progress" not in after
    assert wrong == 403


def test_the_token_is_kept_only_as_a_hash(study: Study) -> None:
    token = new_admin_token(study.folder)
    assert not any(
        token.encode() in path.read_bytes() for path in study.folder.rglob("*") if path.is_file()
    )


def test_wrong_tokens_are_slowed_down(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "TRIES", (0.0, 5))
    token = new_admin_token(study.folder)

    async def go(client: httpx2.AsyncClient) -> list[int]:
        wrong = [(await entered(client, f"wrong {n}")).status_code for n in range(5)]
        return [*wrong, (await entered(client, token)).status_code]

    assert visit(study, go) == [403] * 5 + [429]


def test_a_paused_study_lets_nobody_in_until_it_goes_on(study: Study) -> None:
    token = new_admin_token(study.folder)

    async def go(client: httpx2.AsyncClient) -> list[int]:
        arrival = {"PROLIFIC_PID": "new", "STUDY_ID": "b", "SESSION_ID": "c"}
        statuses = []
        page = await entered(client, token)
        for paused in ("yes", "no"):
            form = read_form(page.text)
            page = await client.post("/admin/pause", data={**form.hidden, "paused": paused})
            statuses.append((await client.get("/", params=arrival)).status_code)
        forged = await client.post("/admin/pause", data={"token": "x", "paused": "yes"})
        return [*statuses, forged.status_code]

    assert visit(study, go) == [503, 200, 403]


def test_status_says_the_same(study: Study) -> None:
    document = as_document(study)
    assert document["failed_checks"] == {"name": 1, "traits": 0, "repeat": 0}
    assert (document["checked"], document["cost"]) == (4, 8.0)
    assert "-id" not in json.dumps(document)
