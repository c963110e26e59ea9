"""A study.toml that cannot be served is refused with its line and what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from stereometer.errors import DataError, UsageError
from stereometer.studies.new import new_study
from stereometer.studies.study import open_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    new_study("survey", tmp_path / "survey")
    return tmp_path / "survey"


def refused(folder: Path, before: str, after: str) -> str:
    path = folder / "study.toml"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(DataError) as error:
        open_study(folder)
    return str(error.value)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("judgements = 20", "judgements = 0", ("quota.judgements", "greater than or equal to 1")),
        ("per_person = 4", "per_person = 40", ("per_person", "25")),
        ('kind = "survey"', 'kind = "servey"', ("kind", "write-cats")),
        ('name = "open"', 'name = "closed"', ("panel.name", "prolific")),
        ("repeat_share = 0.8 ", "repeat_share = 80 ", ("survey.repeat_share", "less than")),
        ("lease_minutes", "lease_hours", ("quota.lease_hours", "not permitted")),
        ("[quota]", "[quota", ("not valid TOML",)),
        ("groups = []", 'groups = ["womman"]', ("survey.groups", "womman", "Did you mean woman")),
        ('"age"', '"agee"', ("demographics", "agee", "education")),
        ('return_url = ""', 'return_url = "javascript:x"', ("panel.return_url",)),
    ],
)
def test_a_bad_setting_is_named_with_its_line(
    folder: Path, before: str, after: str, words: tuple[str, ...]
) -> None:
    message = refused(folder, before, after)
    assert all(word in message for word in words), message
    assert "study.toml" in message
    assert "line " in message


def test_the_line_is_that_of_the_setting(folder: Path) -> None:
    lines = (folder / "study.toml").read_text(encoding="utf-8").splitlines()
    at = 1 + next(n for n, line in enumerate(lines) if line.startswith("judgements"))
    assert f"line {at}:" in refused(folder, "judgements = 20", "judgements = 0")


def test_only_the_groups_that_are_named_are_rated(folder: Path) -> None:
    path = folder / "study.toml"
    text = path.read_text(encoding="utf-8").replace("per_person = 4", "per_person = 2")
    path.write_text(text.replace("groups = []", 'groups = ["woman", "man"]'), encoding="utf-8")
    assert [unit.name for unit in open_study(folder).units] == ["woman", "man"]


def test_two_outcomes_may_not_share_a_code(folder: Path) -> None:
    text = (folder / "study.toml").read_text(encoding="utf-8")
    codes = [line for line in text.splitlines() if line.startswith(('complete = "', 'left = "'))]
    same = codes[1].replace("left", "complete", 1)
    assert "the same code" in refused(folder, codes[0], same)


@pytest.mark.parametrize("part", ["consent", "warning", "instructions", "debriefing"])
def test_a_missing_text_is_refused(folder: Path, part: str) -> None:
    (folder / "texts" / "en" / f"{part}.md").unlink()
    with pytest.raises(DataError, match=part):
        open_study(folder)


def test_a_language_without_texts_is_refused(folder: Path) -> None:
    assert "fr" in refused(folder, 'languages = ["en"]', 'languages = ["en", "fr"]')


def test_a_group_that_stands_twice_is_refused(folder: Path) -> None:
    with (folder / "groups.csv").open("a", encoding="utf-8") as file:
        file.write("man,men,gender\n")
    with pytest.raises(DataError, match="twice"):
        open_study(folder)


def test_a_folder_that_is_no_study_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="study new"):
        open_study(tmp_path)


def test_secrets_are_for_their_owner_only(folder: Path) -> None:
    assert (folder / "secrets.json").stat().st_mode & 0o077 == 0
