"""From arrival to payment: how people come, what is kept of them, and how it ends."""

from __future__ import annotations

import asyncio
import csv
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from stereometer.studies.database import answers, leases, participants, tombstones
from stereometer.studies.export.folder import export_study
from stereometer.studies.kinds import KINDS
from stereometer.studies.new import new_study
from stereometer.studies.panels import PANELS, arrival_ids, invitation
from stereometer.studies.payments import payment_rows
from stereometer.studies.rehearsal.forms import read_form
from stereometer.studies.rehearsal.manners import Careful, Memory
from stereometer.studies.rehearsal.rehearse import rehearse
from stereometer.studies.study import Study, open_study
from tests.builders.commands import assert_refused, call
from tests.builders.studies import (
    Desk,
    client_of,
    desk,
    finish,
    set_toml,
    small_survey,
    valid_answer,
)

KEY = "a key"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return small_survey(tmp_path / "s", per_person=2, name="prolific")


# ---------------------------------------------------------------------------------------- panels


@pytest.mark.parametrize(
    ("panel", "query"),
    [
        ("prolific", {"PROLIFIC_PID": "a", "STUDY_ID": "b", "SESSION_ID": "c"}),
        ("mechanical-turk", {"workerId": "a", "assignmentId": "b", "hitId": "c"}),
    ],
)
def test_a_panel_needs_all_its_parameters_and_knows_a_person_by_one(
    study: Study, panel: str, query: dict[str, str]
) -> None:
    assert arrival_ids(PANELS[panel], query, KEY) == query
    for name in query:
        assert arrival_ids(PANELS[panel], {**query, name: ""}, KEY) is None
    assert PANELS[panel].person == (next(iter(query)),)


def test_a_personal_link_is_ours_or_leads_nowhere() -> None:
    token = invitation(KEY, 7)
    assert arrival_ids(PANELS["link"], {"invite": token}, KEY) == {"invite": "7"}
    assert arrival_ids(PANELS["link"], {"invite": token + "x"}, KEY) is None
    assert arrival_ids(PANELS["link"], {"invite": token}, "another key") is None


def test_everybody_who_opens_an_open_link_is_somebody_else() -> None:
    assert arrival_ids(PANELS["open"], {}, KEY) != arrival_ids(PANELS["open"], {}, KEY)


@pytest.mark.parametrize("hostile", ["a\x00b", "a\nb", "\ud800", " ", "\u202eabc"])
def test_ids_that_no_panel_gives_are_refused(hostile: str) -> None:
    query = {"PROLIFIC_PID": hostile, "STUDY_ID": "b", "SESSION_ID": "c"}
    assert arrival_ids(PANELS["prolific"], query, KEY) is None


# ------------------------------------------------------------------------------- page after page


async def through(study: Study, change: Callable[[str, dict[str, str]], None]) -> list[str]:
    """The HTML of every page of a careful person whose answers `change` may spoil."""
    memory = Memory(random.Random(3))
    async with client_of(study) as client:
        query = {"PROLIFIC_PID": "anna", "STUDY_ID": "b", "SESSION_ID": "c"}
        response = await client.get("/", params=query)
        pages = [response.text]
        while (seen := read_form(response.text)).action:
            sent = {"agree": "yes"} if seen.action == "/consent" else {}
            if seen.action != "/consent":
                sent = Careful()(study, seen, memory)
            change(seen.action, sent)
            response = await client.post(seen.action, data={**seen.hidden, **sent})
            assert response.status_code == 200, response.text
            pages.append(response.text)
    return pages


def nothing(action: str, sent: dict[str, str]) -> None:
    pass


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_of_every_kind_has_a_way_out(tmp_path: Path, kind: str) -> None:
    new_study(kind, tmp_path / kind)
    study = set_toml(tmp_path / kind, name="prolific", per_person=2)
    consent, *tasks, end = asyncio.run(through(study, nothing))
    assert 'name="agree" value="no"' in consent
    assert 'class="warning"' in consent
    assert all('href="/leave"' in page for page in tasks)
    assert study.config.codes.complete in end


def test_who_fails_a_check_is_told_kindly_paid_in_full_and_left_out(study: Study) -> None:
    def forget(action: str, sent: dict[str, str]) -> None:
        if action == "/page/check-name":
            sent["name"] = "something else altogether"

    end = asyncio.run(through(study, forget))[-1]
    assert study.config.codes.failed in end
    assert "paid in full" in end
    (row,) = payment_rows(study)
    assert (row["outcome"], row["amount"]) == ("failed", study.config.pay.complete)
    assert (row["PROLIFIC_PID"], row["code"]) == ("anna", study.config.codes.failed)
    paid = study.folder.parent / "paid.csv"
    call("study", "payments", study.folder, paid)
    assert [line["PROLIFIC_PID"] for line in table(paid)] == ["anna"]
    assert paid.stat().st_mode & 0o077 == 0
    out = study.folder.parent / "out"
    assert export_study(study, out)["counted"] == 0
    assert "name" in (out / "excluded.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("by", ["PROLIFIC_PID", "hash"])
def test_a_researcher_leaves_somebody_out_with_a_reason(study: Study, by: str) -> None:
    person = desk(study)
    participant = person.arrive("anna")
    assert participant is not None
    assert finish(person, participant) == "complete"
    person.database.close()
    (row,) = payment_rows(study)
    said = call("study", "exclude", study.folder, row[by], "--reason", "a program")
    assert said.code == 0, said.err
    assert payment_rows(study)[0]["amount"] == study.config.pay.complete
    out = study.folder.parent / "out"
    assert export_study(study, out)["counted"] == 0
    (left_out,) = table(out / "excluded.csv")
    assert (left_out["outcome"], left_out["failed_checks"]) == ("failed", "a program")
    said = call("study", "exclude", study.folder, "berta", "--reason", "x")
    assert_refused(said, 2, "Nobody in this study")


def test_demographics_come_last_and_every_question_can_be_withheld(study: Study) -> None:
    def withhold(action: str, sent: dict[str, str]) -> None:
        if action == "/page/demographics":
            sent.update(dict.fromkeys(study.config.demographics, "prefer-not-to-say"))

    *_, asked, comments, end = asyncio.run(through(study, withhold))
    offered = asked.count('value="prefer-not-to-say"')
    assert offered == len(study.config.demographics)
    assert "/page/comments" in comments
    assert study.config.codes.complete in end


def test_demographics_can_be_left_empty(study: Study) -> None:
    assert study.config.codes.complete in asyncio.run(through(study, nothing))[-1]


# ---------------------------------------------------------------------------- what is kept of it


def files_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("study.sqlite*")))


def test_forgotten_ids_are_nowhere_in_the_files(study: Study) -> None:
    person = desk(study)
    participant = person.arrive("a-very-secret-person")
    assert participant is not None
    finish(person, participant)
    assert b"a-very-secret-person" in files_of(study.folder)
    said = call("study", "forget-ids", study.folder)
    assert "1 participants" in said.err
    assert b"a-very-secret-person" not in files_of(study.folder)
    assert payment_rows(study) == []
    assert person.arrive("a-very-secret-person") == participant


def test_who_withdraws_is_gone_from_everywhere_but_a_tombstone(study: Study) -> None:
    person = desk(study)
    ids = [person.arrive(name) for name in ("anna", "berta")]
    assert None not in ids
    for participant in ids:
        assert finish(person, str(participant)) == "complete"
    code = study.secrets.withdrawal_code(str(ids[0]))
    assert "removed" in call("study", "withdraw", study.folder, code.lower()).err
    assert_refused(call("study", "withdraw", study.folder, code), 2, "Nobody in this study")
    with person.database.read() as connection:
        for table in (answers, leases):
            kept = connection.execute(select(table.c.participant)).scalars()
            assert set(kept) == {ids[1]}
        assert connection.execute(select(participants.c.id)).scalars().all() == [ids[1]]
        assert connection.execute(select(tombstones.c.participant)).scalars().all() == [ids[0]]
    out = study.folder.parent / "again"
    assert export_study(study, out)["participants"] == 1
    assert person.participation.standing(str(ids[0])) is None


def test_ids_of_ratings_and_of_demographics_cannot_be_joined_unless_consent_allows(
    study: Study,
) -> None:
    def exported(joined: bool) -> tuple[set[str], set[str]]:
        again = set_toml(study.folder, join_demographics=joined)
        out = study.folder.parent / f"out-{joined}"
        export_study(again, out)
        return tuple(  # type: ignore[return-value]
            {row["participant"] for row in table(out / name)}
            for name in ("ratings.csv", "demographics.csv")
        )

    person = desk(study)
    for number in range(4):
        finish(person, str(person.arrive(f"person {number}")))
    ratings, asked = exported(False)
    assert len(ratings) == len(asked) == 4
    assert not ratings & asked
    ratings, asked = exported(True)
    assert ratings == asked


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_what_fewer_than_five_people_share_is_not_shown(study: Study) -> None:
    person = desk(study)
    for number in range(9):
        participant = str(person.arrive(f"person {number}"))
        asked = {"gender": "woman" if number < 5 else "man", "age": 20 + number, "state": "=1+1"}
        said = {**dict.fromkeys(study.config.demographics), **asked}
        while (standing := person.participation.standing(participant)) and standing.page:
            if standing.page.key == "demographics":
                person.participation.submit(participant, "demographics", said)
            else:
                _answer(person, participant)
    out = study.folder.parent / "out"
    export_study(study, out)
    rows = table(out / "demographics.csv")
    assert sorted(row["gender"] for row in rows) == ["(fewer than five)"] * 4 + ["woman"] * 5
    assert {row["age"] for row in rows} == {"20-29"}
    assert {row["state"] for row in rows} == {"'=1+1"}


def _answer(person: Desk, participant: str) -> None:
    due = valid_answer(person, participant)
    assert due is not None
    person.participation.submit(participant, *due)


def test_who_withdraws_is_gone_from_studies_in_which_others_judge_what_they_wrote(
    tmp_path: Path,
) -> None:
    new_study("write-pairs", tmp_path / "w")
    writing, _ = rehearse(tmp_path / "w", 4, shares={"careful": 1.0})
    new_study("validate-pairs", tmp_path / "v", str(writing.folder))
    judging, _ = rehearse(tmp_path / "v", 12, shares={"careful": 1.0})
    before = list(judging.units)
    number = before[0].name.rpartition("-")[0]
    code = writing.secrets.withdrawal_code(number)
    said = call("study", "withdraw", writing.folder, code, "--copy", judging.folder)
    after = open_study(judging.folder)
    gone = {unit.name for unit in before} - {unit.name for unit in after.units}
    assert gone == {unit.name for unit in before if unit.name.startswith(f"{number}-")}
    assert f"{len(gone)} of their items" in said.err
    export_study(after, tmp_path / "out")
    assert not any(row["item"] in gone for row in table(tmp_path / "out" / "labels.csv"))
    files = [path for path in after.folder.iterdir() if path.suffix == ".csv"]
    assert not any(number in path.read_text(encoding="utf-8") for path in files)
