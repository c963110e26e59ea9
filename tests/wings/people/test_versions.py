"""What people have consented to is frozen: a later change is refused or makes a new version."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text

from stereometer.core.errors import DataError, UsageError
from stereometer.kinds.traits.abc.items import data_file
from stereometer.wings.people.database import answers, open_database, participants
from stereometer.wings.people.export import export_study
from stereometer.wings.people.new import new_study
from stereometer.wings.people.study import Study, open_answers, open_study
from tests.builders.commands import assert_refused, call
from tests.builders.studies import (
    Browser,
    client_of,
    desk,
    edited,
    finish,
    set_toml,
    small_survey,
    stored,
)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """One who has finished, and one who is inside."""
    study = small_survey(tmp_path / "s", per_person=2, name="prolific", poles="fixed")
    person = desk(study)
    assert finish(person, str(person.arrive("anna"))) == "complete"
    person.arrive("berta")
    person.database.close()
    return study


LINES = data_file("traits.csv").read_text(encoding="utf-8").splitlines(keepends=True)
SWAPPED = ("traits.csv", LINES[1] + LINES[2], LINES[2] + LINES[1])
REMOVED = ("traits.csv", LINES[3], "")
EDITS = (
    SWAPPED,
    REMOVED,
    ("groups.csv", "man,men", "x,men"),
    ("texts/en/consent.md", "# ", "# Really: "),
    ("study.toml", "complete = 2.00", "complete = 1.5"),
    ("study.toml", 'society = "American', 'society = "Any'),
)


@pytest.mark.parametrize("edit", EDITS)
def test_a_change_after_consent_is_refused_with_a_choice(
    study: Study, edit: tuple[str, str, str]
) -> None:
    edited(study.folder, *edit)
    for command, *rest in (["status"], ["export", "--out", study.folder.parent / "out"]):
        said = call("study", str(command), study.folder, *rest)
        assert_refused(said, 4, edit[0], "new study", "study revise", "versions/1")
    changed = desk(open_study(study.folder))
    with pytest.raises(DataError, match="study revise"):
        changed.arrive("carla")
    changed.database.close()
    assert call("study", "payments", study.folder, study.folder.parent / "p.csv").code == 0


def test_what_decides_nothing_that_people_read_may_change(study: Study) -> None:
    again = set_toml(study.folder, judgements=30, lease_minutes=60, contact="me", variety="x")
    open_answers(again).close()


def test_before_anybody_consents_everything_may_change(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s", per_person=2)
    open_database(study.folder).close()
    edited(study.folder, *SWAPPED)
    open_answers(open_study(study.folder)).close()
    assert_refused(call("study", "revise", study.folder), 2, "needs no new version")


def test_ratings_stand_under_the_names_of_traits(study: Study) -> None:
    ((sent,),) = stored(study, select(answers.c.sent).where(answers.c.page == "rate-1"))
    assert set(json.loads(sent)) == {line.split(",")[0] for line in LINES[1:4]}


def test_a_new_version_is_joined_from_now_on_and_never_exported_with_the_other(
    study: Study, tmp_path: Path
) -> None:
    edited(study.folder, *REMOVED)
    assert "Version 2 begins: traits.csv" in call("study", "revise", study.folder).err
    revised = open_study(study.folder)
    person = desk(revised)
    person.lot.seed(8)  # others than before
    assert finish(person, str(person.arrive("carla"))) == "complete"
    berta = person.arrive("berta")  # goes on with what she has agreed to
    assert finish(person, str(berta)) == "complete"
    person.database.close()
    for number, people, traits in ((1, 2, 3), (2, 1, 2)):
        out = tmp_path / f"out-{number}"
        document = export_study(revised, out, version=number)
        assert (document["counted"], document["version"]) == (people, number)
        assert f"version {number} of 2" in document["facts"][-1]
        assert document["digest"] in (out / "data-statement.md").read_text(encoding="utf-8")
        with (out / "ratings.csv").open(encoding="utf-8", newline="") as file:
            assert len({row["trait"] for row in csv.DictReader(file)}) == traits
    with pytest.raises(UsageError, match="no version 3"):
        export_study(revised, tmp_path / "out-3", version=3)


def test_a_backup_brings_back_what_its_answers_are_about(study: Study, tmp_path: Path) -> None:
    frozen = study.folder / "versions"
    edited(study.folder, *REMOVED)
    assert call("study", "revise", study.folder).code == 0
    before = {file: file.read_bytes() for file in frozen.rglob("*") if file.is_file()}
    assert call("study", "backup", study.folder, tmp_path / "b.sqlite").code == 0
    shutil.rmtree(frozen / "1")
    edited(frozen / "2", "traits.csv", LINES[1], "")
    assert call("study", "restore", study.folder, tmp_path / "b.sqlite").code == 0
    assert {file: file.read_bytes() for file in frozen.rglob("*") if file.is_file()} == before
    assert export_study(open_study(study.folder), tmp_path / "out", version=1)["counted"] == 1
    with closing(sqlite3.connect(tmp_path / "b.sqlite")) as raw, raw:
        raw.execute("UPDATE frozen_files SET name = '../../own.csv'")
    refused = call("study", "restore", study.folder, tmp_path / "b.sqlite")
    assert_refused(refused, 2, "not a whole backup", "another folder")


def test_a_server_that_was_left_behind_lets_nobody_in(study: Study) -> None:
    edited(study.folder, *SWAPPED)
    assert call("study", "revise", study.folder).code == 0
    before = desk(study)
    with pytest.raises(DataError, match="changed"):
        before.arrive("carla")
    assert before.arrive("berta") is not None
    before.database.close()


def test_a_copy_that_was_changed_is_not_what_people_have_consented_to(
    study: Study, tmp_path: Path
) -> None:
    edited(study.folder, *REMOVED)
    assert call("study", "revise", study.folder).code == 0
    edited(study.folder / "versions/1", "traits.csv", "powerless,powerful", "powerful,powerless")
    out = ("--version", 1, "--out", tmp_path / "out")
    assert_refused(call("study", "export", study.folder, *out), 4, "traits.csv", "from a backup")
    ((anna,), *_) = stored(study, select(participants.c.id))
    code = study.secrets.withdrawal_code(anna)
    assert call("study", "withdraw", study.folder, code).code == 0, "whoever wants to can go"


def test_who_read_another_version_reads_the_new_one_before_they_join(study: Study) -> None:
    client = Browser(study)
    ids = {"PROLIFIC_PID": "carla", "STUDY_ID": "s", "SESSION_ID": "visit of carla"}
    read = client.get("/", params=ids)
    edited(study.folder, "texts/en/consent.md", "# ", "# Really: ")
    assert call("study", "revise", study.folder).code == 0
    client.client = client_of(open_study(study.folder))
    client.client.cookies = client.cookies
    again = client.agree(read)
    assert "Really: " in again.text
    assert "/page/instructions" in client.agree(again).text
    assert stored(study, select(participants.c.version)) == [(1,), (1,), (2,)]


def test_a_server_goes_on_with_what_it_has_opened(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s", per_person=2, name="prolific")
    edited(study.folder, "traits.csv", LINES[1].split(",")[0], "another")
    person = desk(study)
    assert finish(person, str(person.arrive("anna"))) == "complete"
    person.database.close()
    ((sent,),) = stored(study, select(answers.c.sent).where(answers.c.page == "rate-1"))
    assert "another" not in sent
    assert "another" not in (study.folder / "versions/1/traits.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", ["0001", "0002"])
def test_a_database_of_another_version_is_refused(tmp_path: Path, version: str) -> None:
    study = new_study("survey", tmp_path / "s")
    database = open_database(study.folder)
    with database.write() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
    database.close()
    assert_refused(call("study", "status", study.folder), 2, "another version", "new study")
