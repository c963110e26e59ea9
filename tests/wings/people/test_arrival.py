"""From arrival to payment: how people come, what is kept of them, and how it ends."""

from __future__ import annotations

import csv
import json
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from stereometer.wings.people import database
from stereometer.wings.people.database import answers, leases, participants, tombstones
from stereometer.wings.people.export import export_study, payment_rows
from stereometer.wings.people.kinds import KINDS
from stereometer.wings.people.kinds.kind import Respondent
from stereometer.wings.people.new import new_study
from stereometer.wings.people.pages import participant
from stereometer.wings.people.participation import PanelArrival
from stereometer.wings.people.people import Participant
from stereometer.wings.people.rehearsal import Careful, VisitMemory, read_form, rehearse
from stereometer.wings.people.secrets import arrival_ids, invitation
from stereometer.wings.people.study import Study, open_study
from stereometer.wings.people.tables import demographics
from tests.builders.commands import assert_refused, call
from tests.builders.studies import (
    Browser,
    desk,
    finish,
    finished,
    set_toml,
    small_survey,
    stored,
    valid_answer,
)

KEY = "a key"
ANNA = {"PROLIFIC_PID": "anna", "STUDY_ID": "s", "SESSION_ID": "visit of anna"}


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
    assert arrival_ids(panel, query, KEY) == query
    for name in query:
        assert arrival_ids(panel, {**query, name: ""}, KEY) is None
    first = next(iter(query))
    assert PanelArrival(panel, query, "en").identity == json.dumps({first: query[first]})


def test_a_personal_link_is_ours_or_leads_nowhere() -> None:
    token = invitation(KEY, 7)
    assert arrival_ids("link", {"invite": token}, KEY) == {"invite": "7"}
    assert arrival_ids("link", {"invite": token + "x"}, KEY) is None
    assert arrival_ids("link", {"invite": token}, "another key") is None


def test_everybody_who_opens_an_open_link_is_somebody_else() -> None:
    assert arrival_ids("open", {}, KEY) != arrival_ids("open", {}, KEY)


@pytest.mark.parametrize("hostile", ["a\x00b", "a\nb", "\ud800", " ", "\u202eabc"])
def test_ids_that_no_panel_gives_are_refused(hostile: str) -> None:
    query = {"PROLIFIC_PID": hostile, "STUDY_ID": "b", "SESSION_ID": "c"}
    assert arrival_ids("prolific", query, KEY) is None


# ------------------------------------------------------------------------------- page after page


def through(
    study: Study, change: Callable[[str, dict[str, str]], object] = lambda action, sent: None
) -> list[str]:
    """The HTML of every page of a careful person whose answers `change` may spoil."""
    memory, client = VisitMemory(random.Random(3)), Browser(study)
    response = client.get("/", params=ANNA)
    pages = [response.text]
    while (seen := read_form(response.text)).action:
        consent = seen.action == "/consent"
        sent = {"agree": "yes"} if consent else Careful()(study, seen, memory)
        change(seen.action, sent)
        response = client.post(seen.action, data={**seen.hidden, **sent})
        assert response.status_code == 200, response.text
        pages.append(response.text)
    return pages


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_of_every_kind_has_a_way_out(tmp_path: Path, kind: str) -> None:
    new_study(kind, tmp_path / kind)
    study = set_toml(tmp_path / kind, name="prolific", per_person=2)
    consent, *tasks, end = through(study)
    assert 'name="agree" value="no"' in consent
    assert 'class="warning"' in consent
    assert all('href="/leave"' in page for page in tasks)
    assert study.config.codes.complete in end


def test_who_fails_a_check_is_told_kindly_paid_in_full_and_left_out(study: Study) -> None:
    def forget(action: str, sent: dict[str, str]) -> None:
        if action == "/page/check-name":
            sent["name"] = "something else altogether"

    end = through(study, forget)[-1]
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
    finished(study, "anna")
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

    *_, asked, comments, end = through(study, withhold)
    offered = asked.count('value="prefer-not-to-say"')
    assert offered == len(study.config.demographics)
    assert "/page/comments" in comments
    assert study.config.codes.complete in end


# ------------------------------------------------------------------------- who is known, and room


@pytest.mark.parametrize("closed", ["paused", "full"])
@pytest.mark.parametrize("finished", [False, True])
def test_who_is_known_gets_their_page_or_their_code_whether_or_not_there_is_room(
    tmp_path: Path, closed: str, finished: bool
) -> None:
    study = small_survey(tmp_path / "s", groups=2, per_person=2, judgements=1, name="prolific")
    person = desk(study)
    participant = str(person.arrive("anna"))
    if finished:
        finish(person, participant)
    person.participation.pause(closed == "paused")
    person.database.close()
    client = Browser(study)
    stranger = {**ANNA, "PROLIFIC_PID": "berta"}
    own, others = (client.get("/", params=ids).text for ids in (ANNA, stranger))
    assert (study.config.codes.complete if finished else "/page/instructions") in own
    assert "/page" not in others


def test_an_id_alone_does_not_open_somebodys_session(study: Study) -> None:
    (participant,) = finished(study, "anna")
    reply = Browser(study).get("/", params={**ANNA, "SESSION_ID": "another"})
    assert reply.status_code == 403
    assert "another session" in reply.text
    assert study.secrets.withdrawal_code(participant) not in reply.text


def test_an_open_link_goes_on_in_the_same_browser(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s", per_person=2)
    client = Browser(study)
    first = client.get("/")
    client.get("/")  # another tab, before anything is agreed to
    inside = client.agree(first)
    again = client.get("/")
    assert "/page/instructions" in inside.text
    assert "/page/instructions" in again.text
    assert len(stored(study, select(participants.c.id))) == 1


def test_who_is_turned_away_at_consent_is_promised_nothing(study: Study) -> None:
    full = set_toml(study.folder, judgements=1, groups=["man", "woman"])
    person = desk(full)
    client = Browser(full)
    consent = client.get("/", params={**ANNA, "PROLIFIC_PID": "late"})
    finish(person, str(person.arrive("anna")))
    page = client.agree(consent).text
    assert "The study is full" in page
    assert "paid" not in page
    assert full.config.codes.left not in page
    assert [row["PROLIFIC_PID"] for row in payment_rows(full)] == ["anna"]


def test_who_agrees_while_the_study_is_paused_is_let_in_only_if_they_were_inside(
    study: Study,
) -> None:
    person, clients = desk(study), [Browser(study), Browser(study)]
    arrivals = (ANNA, {**ANNA, "PROLIFIC_PID": "berta"})
    read = [each.get("/", params=ids) for each, ids in zip(clients, arrivals, strict=True)]
    person.arrive("anna")
    person.participation.pause(True)
    inside, outside = (each.agree(page) for each, page in zip(clients, read, strict=True))
    assert "/page/instructions" in inside.text
    assert "paused" in outside.text
    assert len(stored(study, select(participants.c.id))) == 1


def test_a_clock_that_is_set_back_ends_no_visit(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Browser(study)
    client.consented(**ANNA)
    codes = []
    for hours in (-2, 30):
        now = time.time() + 3600 * hours
        monkeypatch.setattr(f"{participant.__name__}.time.time", lambda now=now: now)
        codes.append(client.get("/page").status_code)
        monkeypatch.undo()
    assert codes == [200, 403]


# ---------------------------------------------------------------------------- what is kept of it


def files_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("study.sqlite*")))


def test_forgotten_ids_are_nowhere_in_the_files(study: Study) -> None:
    (participant,) = finished(study, "a-very-secret-person")
    assert b"a-very-secret-person" in files_of(study.folder)
    said = call("study", "forget-ids", study.folder)
    assert "1 participants" in said.err
    assert b"a-very-secret-person" not in files_of(study.folder)
    assert payment_rows(study) == []
    assert desk(study).arrive("a-very-secret-person") == participant


@pytest.mark.parametrize("command", ["forget-ids", "withdraw"])
def test_while_somebody_reads_nothing_is_said_to_be_gone(
    study: Study, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(database, "SCRUB_SECONDS", 0)
    (participant,) = finished(study, "a-very-secret-person")
    code = [study.secrets.withdrawal_code(participant)] if command == "withdraw" else []
    reader = sqlite3.connect(study.folder / "study.sqlite", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM payments").fetchall()
    said = call("study", command, study.folder, *code)
    assert_refused(said, 1, "still hold", "study.sqlite-wal", "run this again")
    assert b"a-very-secret-person" in files_of(study.folder)
    reader.close()
    assert call("study", command, study.folder, *code).code == 0
    assert b"a-very-secret-person" not in files_of(study.folder)


def test_an_error_of_the_database_names_no_ids(
    study: Study, caplog: pytest.LogCaptureFixture
) -> None:
    client = Browser(study)
    consent = client.get("/", params={**ANNA, "PROLIFIC_PID": "a-secret"})
    with sqlite3.connect(study.folder / "study.sqlite") as raw:
        raw.execute("DROP TABLE payments")
    assert client.agree(consent).status_code == 503
    assert "payments" in caplog.text
    assert "a-secret" not in caplog.text


def test_who_withdraws_is_gone_from_everywhere_but_a_tombstone(study: Study) -> None:
    gone, other = finished(study, "anna", "berta")
    code = study.secrets.withdrawal_code(gone)
    assert "removed" in call("study", "withdraw", study.folder, code.lower()).err
    assert "removed" in call("study", "withdraw", study.folder, code).err  # the files once more
    unknown = call("study", "withdraw", study.folder, "AAAA-BBBB-CCCC")
    assert_refused(unknown, 2, "Nobody in this study")
    for column in (answers.c.participant, leases.c.participant, participants.c.id):
        assert set(stored(study, select(column))) == {(other,)}
    assert stored(study, select(tombstones.c.participant)) == [(gone,)]
    out = study.folder.parent / "again"
    assert export_study(study, out)["participants"] == 1
    assert desk(study).participation.standing(gone) is None


def test_ids_of_ratings_and_of_demographics_cannot_be_joined_unless_consent_allows(
    study: Study,
) -> None:
    finished(study, *"abcd")
    for joined in (False, True):
        out = study.folder.parent / f"out-{joined}"
        export_study(set_toml(study.folder, join_demographics=joined), out)
        names = ("ratings.csv", "demographics.csv")
        ratings, asked = ({row["participant"] for row in table(out / name)} for name in names)
        assert len(ratings) == len(asked) == 4
        assert ratings & asked == (ratings if joined else set())


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_what_fewer_than_five_people_share_is_not_shown(study: Study) -> None:
    person = desk(study)
    for number in range(10):
        participant = str(person.arrive(f"person {number}"))
        asked = {"gender": "woman" if number < 5 else "man", "age": 20 + number, "state": "=1+1"}
        said = {**dict.fromkeys(study.config.demographics), **asked}
        while due := valid_answer(person, participant):
            values = said if due[0] == "demographics" else due[1]
            person.participation.submit(participant, due[0], values)
    out = study.folder.parent / "out"
    export_study(study, out)
    rows = table(out / "demographics.csv")
    assert sorted(row["gender"] for row in rows) == ["man"] * 5 + ["woman"] * 5
    assert {row["age"] for row in rows} == {"20-29"}
    assert {row["state"] for row in rows} == {"'=1+1"}


def rows_of(said: list[tuple[str, ...]], hidden: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """What a table of demographics says of people who gave these answers."""
    questions = ("gender", "race", "state")
    people = [
        Participant(
            Respondent(str(at), (), {"demographics": dict(zip(questions, row, strict=True))}),
            *("", "open", 1, 0.0, None, "complete", (), {}),
        )
        for at, row in enumerate(said)
    ]
    ids = {each.person.id: each.person.id for each in people}
    rows = demographics(people, questions, ids, hidden)
    return [tuple(row[name] for name in questions) for row in rows]


@given(st.lists(st.tuples(*[st.sampled_from(["", "a", "b", "c"])] * 3), min_size=5, max_size=60))
def test_no_combination_of_answers_is_shared_by_fewer_than_five(
    said: list[tuple[str, ...]],
) -> None:
    rows = rows_of(said)
    assert len(rows) == len(said)
    assert min(Counter(rows).values()) >= 5
    assert min(Counter(row[:2] for row in rows).values()) >= 5


def test_two_exports_around_a_withdrawal_leave_it_open_who_it_was(study: Study) -> None:
    """Five rows that were shown are withheld or gone after it, one of which was theirs, and the
    same five whenever the study is exported; those of people who do not count hide nobody."""
    people = finished(study, *"abcdefghijklmnopqrstuvwxyz")
    participation = desk(study).participation
    for other in people[12:]:
        participation.exclude(other, "a program")

    def demographics_rows(name: str) -> list[str]:
        out = study.folder.parent / name
        export_study(study, out)
        return [row["gender"] for row in table(out / "demographics.csv")]

    before = demographics_rows("before")
    participation.withdraw(people[3])
    after, again = demographics_rows("after"), demographics_rows("again")
    assert (before.count("woman"), after.count("woman")) == (12, 7)
    assert len(after) == 11
    assert sorted(after) == sorted(again)
    (row,) = stored(study, select(tombstones.c.beside))
    shown = {*people[:12]} - {people[3], *json.loads(row[0])}
    participation.withdraw(min(shown))
    assert demographics_rows("later").count("woman") == 0, "seven less five is fewer than five"


@pytest.mark.long
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
