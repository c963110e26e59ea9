"""The researcher's page: behind a token, without ids of panels, with everything that happens."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from stereometer.wings.people.kinds.survey import read_traits
from stereometer.wings.people.pages import admin
from stereometer.wings.people.progress import as_document
from stereometer.wings.people.rehearsal import read_form
from stereometer.wings.people.secrets import new_admin_token
from stereometer.wings.people.study import Study
from tests.builders.studies import Browser, Desk, desk, small_survey, valid_answer

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Three who passed, one of whom left a comment, and one who failed."""
    study = small_survey(tmp_path / "s", per_person=2, name="prolific", poles="fixed")
    person = desk(study)
    for at, name in enumerate(("anna-id", "berta-id", "carla-id")):
        ratings = {trait.name: 70 + at for trait in study.cached(read_traits)}
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


def entered(client: Browser, token: str) -> httpx2.Response:
    return client.post("/admin/enter", data={"token": token})


def test_it_shows_what_happened_and_no_ids(study: Study) -> None:
    token = new_admin_token(study.folder)
    page = entered(Browser(study), token).text
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
    page = entered(Browser(study), token).text
    without = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert all(unit.name in page for unit in study.units)
    assert not any(f">{unit.name}<" in without for unit in study.units)
    assert "alert(1)" not in without


def test_the_export_is_downloaded_without_ids(study: Study) -> None:
    token = new_admin_token(study.folder)
    client = Browser(study)
    assert client.get("/admin/export.zip").status_code == 403
    entered(client, token)
    reply = client.get("/admin/export.zip")
    with zipfile.ZipFile(io.BytesIO(reply.content)) as archive:
        assert {"ratings.csv", "croissant.json", "data-statement.md"} <= set(archive.namelist())
        assert not any(b"-id" in archive.read(name) for name in archive.namelist())


def test_a_new_token_counts_at_once_and_ends_sessions_of_the_old_one(study: Study) -> None:
    client = Browser(study)
    old = new_admin_token(study.folder)
    inside = entered(client, old).text
    new = new_admin_token(study.folder)
    after = client.get("/admin").text
    entered(client, new)
    wrong = entered(client, old).status_code
    assert "<h1>Progress" in inside
    assert 'name="token"' in after
    assert "<h1>Progress" not in after
    assert wrong == 403


def test_the_token_is_kept_only_as_a_hash(study: Study) -> None:
    token = new_admin_token(study.folder)
    assert not any(
        token.encode() in path.read_bytes() for path in study.folder.rglob("*") if path.is_file()
    )


def test_wrong_tokens_are_slowed_down_and_keep_no_researcher_out(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin, "TRIES", (0.0, 5))
    token, client = new_admin_token(study.folder), Browser(study)
    tried = [*(f"wrong {n}" for n in range(5)), token]
    assert [entered(client, each).status_code for each in tried] == [403] * 5 + [429]
    client.get("/admin")  # the researcher's own browser, at the same address
    assert entered(client, token).status_code == 200


def test_a_token_is_tried_no_more_often_by_many_browsers(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin, "TRIES", (0.0, 5))
    new_admin_token(study.folder)
    client, codes = Browser(study), []
    for _ in range(6):
        client.cookies.clear()
        client.get("/admin")
        codes.append(entered(client, "an old token").status_code)
    assert codes == [403] * 5 + [429]


def test_a_paused_study_lets_nobody_in_until_it_goes_on(study: Study) -> None:
    token = new_admin_token(study.folder)
    client = Browser(study)
    arrival = {"PROLIFIC_PID": "new", "STUDY_ID": "b", "SESSION_ID": "c"}
    statuses = []
    page = entered(client, token)
    for paused in ("yes", "no"):
        form = read_form(page.text)
        page = client.post("/admin/pause", data={**form.hidden, "paused": paused})
        statuses.append(client.get("/", params=arrival).status_code)
    forged = client.post("/admin/pause", data={"token": "x", "paused": "yes"})
    assert [*statuses, forged.status_code] == [503, 200, 403]


def test_status_says_the_same(study: Study) -> None:
    document = as_document(study)
    assert document["failed_checks"] == {"name": 1, "traits": 0, "repeat": 0}
    assert (document["checked"], document["cost"]) == (4, 8.0)
    assert "-id" not in json.dumps(document)
