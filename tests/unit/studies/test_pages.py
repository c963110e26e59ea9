"""The pages over HTTP: consent first, each answer once, hostile requests refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from stereometer.studies.config import Pay
from stereometer.studies.database import answers, open_database, participants, payments
from stereometer.studies.new import new_study
from stereometer.studies.pages.app import Limits
from stereometer.studies.rehearsal.forms import SeenForm, read_form
from stereometer.studies.study import Study
from tests.builders.studies import app_of, client_of, set_toml, small_survey

Visit = Callable[[httpx2.AsyncClient], Awaitable[Any]]


def visit(study: Study, go: Visit, limits: Limits | None = None) -> Any:
    async def inside() -> Any:
        async with client_of(study, *([limits] if limits else [])) as client:
            return await go(client)

    return asyncio.run(inside())


def count(study: Study, table: Any) -> int:
    database = open_database(study.folder)
    with database.read() as connection:
        number = connection.execute(select(func.count()).select_from(table)).scalar()
    database.close()
    return int(number or 0)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return small_survey(tmp_path / "s", per_person=2)


async def consented(client: httpx2.AsyncClient) -> SeenForm:
    seen = read_form((await client.get("/")).text)
    page = await client.post("/consent", data={**seen.hidden, "agree": "yes"})
    return read_form(page.text)


def test_nothing_is_stored_before_consent_or_of_who_declines(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        seen = read_form((await client.get("/")).text)
        return await client.post("/consent", data={**seen.hidden, "agree": "no"})

    page = visit(study, go)
    assert study.config.codes.declined in page.text
    assert count(study, participants) == count(study, payments) == 0


def test_a_page_sent_twice_is_stored_once(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> None:
        seen = await consented(client)
        for _ in range(3):
            await client.post(seen.action, data=seen.hidden)

    visit(study, go)
    assert count(study, answers) == 1


def test_a_page_that_is_not_due_stores_nothing(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        seen = await consented(client)
        return await client.post("/page/rate-2", data={**seen.hidden, "t0": "5"})

    assert "/page/instructions" in visit(study, go).text
    assert count(study, answers) == 0


def test_a_rating_that_is_missing_is_asked_for_again_and_the_others_are_kept(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        seen = await consented(client)
        rate = read_form((await client.post(seen.action, data=seen.hidden)).text)
        return await client.post(rate.action, data={**rate.hidden, "t0": "5", "t1": "7"})

    page = visit(study, go)
    assert page.status_code == 422
    assert 'value="7"' in page.text
    assert "Please rate every scale." in page.text
    assert count(study, answers) == 1


def test_leaving_ends_with_its_own_code(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        await consented(client)
        leave = read_form((await client.get("/leave")).text)
        return await client.post("/leave", data=leave.hidden)

    assert study.config.codes.left in visit(study, go).text


def test_a_form_without_its_token_is_refused(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        seen = await consented(client)
        return await client.post(seen.action, data={"token": "made up"})

    assert visit(study, go).status_code == 403
    assert count(study, answers) == 0


def test_a_token_of_another_visitor_is_refused(study: Study) -> None:
    async def tokens(client: httpx2.AsyncClient) -> SeenForm:
        return await consented(client)

    stolen = visit(study, tokens)

    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        seen = await consented(client)
        return await client.post(seen.action, data=stolen.hidden)

    assert visit(study, go).status_code == 403


@pytest.mark.parametrize("path", ["/page", "/end", "/leave", "/page/x"])
def test_pages_need_a_visit(study: Study, path: str) -> None:
    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        return await client.get(path)

    assert visit(study, go).status_code in (403, 405)


def test_other_host_names_and_large_bodies_are_refused(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> list[int]:
        other = await client.get("/", headers={"host": "evil.example"})
        large = await client.post("/consent", content=b"x" * 100_000)
        absurd = await client.post("/consent", content=b"x", headers={"content-length": "9" * 400})
        return [other.status_code, large.status_code, absurd.status_code]

    assert visit(study, go) == [400, 413, 413]


def test_every_page_forbids_inline_script_and_framing(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        return await client.get("/")

    policy = visit(study, go).headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_too_many_requests_are_turned_away(study: Study) -> None:
    async def go(client: httpx2.AsyncClient) -> list[int]:
        return [(await client.get("/")).status_code for _ in range(4)]

    assert visit(study, go, Limits((1e9, 1e9), (0, 3))) == [200, 200, 200, 429]


@pytest.mark.parametrize("limits", [Limits((0, 0), (9, 9)), Limits((9, 9), (0, 1))])
def test_who_is_turned_away_reads_why_in_their_language(tmp_path: Path, limits: Limits) -> None:
    study = small_survey(tmp_path / "s", languages=("en", "de"))

    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        await client.get("/?lang=de")
        return await client.get("/leave")

    reply = visit(study, go, limits)
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "10")
    assert "Bitte warten Sie einen Moment" in reply.text
    assert '<html lang="de">' in reply.text


@pytest.mark.parametrize(
    ("pay", "left", "said", "never"),
    [
        (2.0, 0.5, "you will then receive 0.50 USD", "Nobody is paid"),
        (2.0, 0.0, "only those who complete the study are paid", "0.00"),
        (0.0, 0.0, "Nobody is paid for taking part", "0.00"),
    ],
)
def test_consent_and_leaving_say_what_people_get_and_whom_to_ask(
    tmp_path: Path, pay: float, left: float, said: str, never: str
) -> None:
    survey = small_survey(tmp_path / "s")
    amounts = Pay(complete=pay, left=left, minutes=10)
    study = replace(survey, config=survey.config.model_copy(update={"pay": amounts}))

    async def go(client: httpx2.AsyncClient) -> list[str]:
        pages = [(await client.get("/")).text]
        await consented(client)
        pages.append((await client.get("/leave")).text)
        seen = read_form(pages[-1])
        return [*pages, (await client.post("/leave", data=seen.hidden)).text]

    consent, leave, end = visit(study, go)
    assert said in consent
    assert "the person or platform that invited you" in consent
    assert all(never not in page for page in (consent, leave, end))
    assert ("You will be paid" in leave) == ("You will be paid" in end) == bool(left)


def test_prolific_needs_its_three_parameters(study: Study) -> None:
    prolific = set_toml(study.folder, name="prolific")

    async def go(client: httpx2.AsyncClient) -> tuple[int, int]:
        ids = {"PROLIFIC_PID": "a", "STUDY_ID": "b", "SESSION_ID": "c"}
        return (
            (await client.get("/", params={"PROLIFIC_PID": "a"})).status_code,
            (await client.get("/", params=ids)).status_code,
        )

    assert visit(prolific, go) == (400, 200)


def test_raw_ids_stand_in_the_payment_table_alone(study: Study) -> None:
    prolific = set_toml(study.folder, name="prolific")

    async def go(client: httpx2.AsyncClient) -> None:
        ids = {"PROLIFIC_PID": "secret-person", "STUDY_ID": "b", "SESSION_ID": "c"}
        seen = read_form((await client.get("/", params=ids)).text)
        await client.post("/consent", data={**seen.hidden, "agree": "yes"})

    visit(prolific, go)
    database = open_database(study.folder)
    with database.read() as connection:
        people = str(connection.execute(select(participants)).all())
        paid = str(connection.execute(select(payments)).all())
    database.close()
    assert "secret-person" not in people
    assert "secret-person" in paid


def test_texts_of_participants_are_escaped(tmp_path: Path) -> None:
    writing = new_study("write-cats", tmp_path / "w")
    hostile = '<script>alert(1)</script>" onfocus="x'

    async def go(client: httpx2.AsyncClient) -> httpx2.Response:
        seen = await consented(client)
        page = read_form((await client.post(seen.action, data=seen.hidden)).text)
        sent = {name: hostile for name in page.controls if name != "action"}
        return await client.post(page.action, data={**page.hidden, **sent, "action": "preview"})

    html = visit(writing, go).text
    assert "<script>alert" not in html
    assert '" onfocus="x' not in html


PATHS = (
    "/",
    *("/consent", "/page", "/page/instructions", "/page/rate-1", "/leave", "/end", "/admin"),
    *("/admin/enter", "/admin/pause", "/static/study.css", "/static/../app.py"),
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    path=st.one_of(
        st.sampled_from(PATHS), st.binary(max_size=30).map(lambda raw: f"/{quote(raw)}")
    ),
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"]),
    body=st.one_of(st.binary(max_size=200), st.dictionaries(st.text(max_size=8), st.text())),
    cookie=st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=';,"\\')),
    query=st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3),
)
def test_no_request_makes_the_server_fail(
    served: FastAPI, path: str, method: str, body: Any, cookie: str, query: dict[str, str]
) -> None:
    async def go() -> int:
        data = {"content": body} if isinstance(body, bytes) else {"data": body}
        headers = {"cookie": f"study={cookie}; researcher={cookie}"}
        transport = httpx2.ASGITransport(app=served)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            sent = await client.request(method, path, params=query, headers=headers, **data)
        return sent.status_code

    assert asyncio.run(go()) < 500


@pytest.fixture
def served(study: Study) -> Iterator[FastAPI]:
    """The application; whatever it was sent, nothing was stored."""
    yield app_of(study)
    assert count(study, answers) == 0
