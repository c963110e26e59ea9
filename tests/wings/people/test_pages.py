"""The pages over HTTP: consent first, each answer once, hostile requests refused."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from stereometer.wings.people.config import Pay
from stereometer.wings.people.database import answers, participants, payments
from stereometer.wings.people.new import new_study
from stereometer.wings.people.pages.app import Limits
from stereometer.wings.people.rehearsal import read_form
from stereometer.wings.people.study import Study
from tests.builders.studies import Browser, app_of, set_toml, small_survey, stored


def count(study: Study, table: Any) -> int:
    return len(stored(study, select(table)))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return small_survey(tmp_path / "s", per_person=2)


def test_nothing_is_stored_before_consent_or_of_who_declines(study: Study) -> None:
    client = Browser(study)
    page = client.agree(client.get("/"), "no")
    assert study.config.codes.declined in page.text
    assert count(study, participants) == count(study, payments) == 0


def test_a_page_sent_twice_is_stored_once(study: Study) -> None:
    client = Browser(study)
    seen = client.consented()
    for _ in range(3):
        client.post(seen.action, data=seen.hidden)
    assert count(study, answers) == 1


def test_a_page_that_is_not_due_stores_nothing(study: Study) -> None:
    client = Browser(study)
    seen = client.consented()
    assert "/page/instructions" in client.post("/page/rate-2", data={**seen.hidden, "t0": "5"}).text
    assert count(study, answers) == 0


def test_a_rating_that_is_missing_is_asked_for_again_and_the_others_are_kept(study: Study) -> None:
    client = Browser(study)
    seen = client.consented()
    rate = read_form(client.post(seen.action, data=seen.hidden).text)
    page = client.post(rate.action, data={**rate.hidden, "t0": "5", "t1": "7"})
    assert page.status_code == 422
    assert 'value="7"' in page.text
    assert "Please rate every scale." in page.text
    assert f"kept for {study.config.quota.lease_minutes:g} minutes" in page.text
    assert count(study, answers) == 1


def test_leaving_ends_with_its_own_code(study: Study) -> None:
    client = Browser(study)
    client.consented()
    leave = read_form(client.get("/leave").text)
    assert study.config.codes.left in client.post("/leave", data=leave.hidden).text


def test_a_form_without_its_own_token_is_refused(study: Study) -> None:
    stolen, client = Browser(study).consented(), Browser(study)
    seen = client.consented()
    for hidden in ({"token": "made up"}, stolen.hidden):
        assert client.post(seen.action, data=hidden).status_code == 403
    assert count(study, answers) == 0


@pytest.mark.parametrize("path", ["/page", "/end", "/leave", "/page/x"])
def test_pages_need_a_visit(study: Study, path: str) -> None:
    assert Browser(study).get(path).status_code in (403, 405)


def test_other_host_names_and_large_bodies_are_refused(study: Study) -> None:
    client = Browser(study)
    other = client.get("/", headers={"host": "evil.example"})
    large = client.post("/consent", content=b"x" * 100_000)
    absurd = client.post("/consent", content=b"x", headers={"content-length": "9" * 400})
    assert [other.status_code, large.status_code, absurd.status_code] == [400, 413, 413]


def test_every_page_forbids_inline_script_and_framing(study: Study) -> None:
    policy = Browser(study).get("/").headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_too_many_requests_are_turned_away(study: Study) -> None:
    client = Browser(study, Limits((1e9, 1e9), (0, 3)))
    assert [client.get("/").status_code for _ in range(4)] == [200, 200, 200, 429]


@pytest.mark.parametrize("limits", [Limits((0, 0), (9, 9)), Limits((9, 9), (0, 1))])
def test_who_is_turned_away_reads_why_in_their_language(tmp_path: Path, limits: Limits) -> None:
    study = small_survey(tmp_path / "s", languages=("en", "de"))
    client = Browser(study, limits)
    client.get("/?lang=de")
    reply = client.get("/leave")
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "10")
    assert "Bitte warten Sie einen Moment" in reply.text
    assert '<html lang="de" dir="ltr">' in reply.text


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
    client = Browser(study)
    consent = client.get("/").text
    client.consented()
    leave = client.get("/leave").text
    end = client.post("/leave", data=read_form(leave).hidden).text
    assert said in consent
    assert "the person or platform that invited you" in consent
    assert all(never not in page for page in (consent, leave, end))
    assert ("You will be paid" in leave) == ("You will be paid" in end) == bool(left)


def test_prolific_needs_its_three_parameters(study: Study) -> None:
    client = Browser(set_toml(study.folder, name="prolific"))
    ids = {"PROLIFIC_PID": "a", "STUDY_ID": "b", "SESSION_ID": "c"}
    assert (
        client.get("/", params={"PROLIFIC_PID": "a"}).status_code,
        client.get("/", params=ids).status_code,
    ) == (400, 200)


def test_raw_ids_stand_in_the_payment_table_alone(study: Study) -> None:
    prolific = set_toml(study.folder, name="prolific")
    client = Browser(prolific)
    client.consented(PROLIFIC_PID="secret-person", STUDY_ID="b", SESSION_ID="c")
    assert "secret-person" not in str(stored(study, select(participants)))
    assert "secret-person" in str(stored(study, select(payments)))


def test_texts_of_participants_are_escaped(tmp_path: Path) -> None:
    writing = new_study("write-cats", tmp_path / "w")
    hostile = '<script>alert(1)</script>" onfocus="x'
    client = Browser(writing)
    seen = client.consented()
    page = read_form(client.post(seen.action, data=seen.hidden).text)
    sent = {name: hostile for name in page.controls if name != "action"}
    html = client.post(page.action, data={**page.hidden, **sent, "action": "preview"}).text
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
