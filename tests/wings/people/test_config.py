"""A study.toml that cannot be served is refused with its line and what to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stereometer.core.errors import DataError, UsageError
from stereometer.wings.people.kinds import KINDS
from stereometer.wings.people.new import new_study
from stereometer.wings.people.pages import showing
from stereometer.wings.people.pages.showing import consent_page
from stereometer.wings.people.progress import check_document
from stereometer.wings.people.study import Study, open_study
from stereometer.wings.people.texts import StudyTexts
from tests.builders.commands import assert_refused, call
from tests.builders.studies import edited, set_toml


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    new_study("survey", tmp_path / "survey")
    return tmp_path / "survey"


def refused(folder: Path, before: str, after: str) -> str:
    edited(folder, "study.toml", before, after)
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
        ('return_url = ""', 'return_url = "javascript:x"', ("panel.return_url", "begins with h")),
        ('licence = ""', 'licence = "mine"', ("publication.licence", "http://")),
    ],
)
def test_a_bad_setting_is_named_with_its_line(
    folder: Path, before: str, after: str, words: tuple[str, ...]
) -> None:
    message = refused(folder, before, after)
    assert all(word in message for word in words), message
    assert "study.toml" in message
    assert "line " in message
    assert "pattern" not in message


def test_the_line_is_that_of_the_setting(folder: Path) -> None:
    lines = (folder / "study.toml").read_text(encoding="utf-8").splitlines()
    at = 1 + next(n for n, line in enumerate(lines) if line.startswith("judgements"))
    assert f"line {at}:" in refused(folder, "judgements = 20", "judgements = 0")


def test_only_the_groups_that_are_named_are_rated(folder: Path) -> None:
    study = set_toml(folder, per_person=2, groups=["woman", "man"])
    assert [unit.name for unit in study.units] == ["woman", "man"]


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


@pytest.mark.parametrize(
    ("name", "before", "after", "words"),
    [
        ("traits.csv", "cold - warm,", "cold - warm;", ("traits.csv", "fields")),
        ("traits.csv", "cold,warm", ",warm", ("traits.csv", "line", "left is empty")),
        ("traits.csv", "cold - warm,", "poor - wealthy,", ("poor - wealthy", "twice")),
        ("groups.csv", "man,men,", ",men,", ("groups.csv", "name is empty")),
        ("groups.csv", "woman,women,", "man,men,", ("man", "twice")),
        ("texts/en/words.toml", 'rate = "How', "rate = 5 # How", ("words.toml", "rate is 5")),
        ("texts/en/words.toml", 'agree = "I', 'agre = "I', ("agre", "Did you mean agree")),
        ("texts/en/words.toml", "{society} see", "{societty} see", ("societty", "society")),
        ("texts/en/words.toml", '"men" = "man', '"men" = 5 # "man', ("men is 5",)),
        ("texts/en/consent.md", "{minutes}", "{minute}", ("consent.md", "Did you mean minutes")),
    ],
)
def test_what_would_break_a_page_later_is_refused_before_anybody_comes(
    folder: Path, name: str, before: str, after: str, words: tuple[str, ...]
) -> None:
    edited(folder, name, before, after)
    assert_refused(call("study", "check", folder), 4, *words)


@pytest.mark.parametrize("kind", KINDS)
def test_check_renders_every_page_in_every_language(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    languages = ("en", "de") if kind == "survey" else ("en",)
    study = new_study(kind, tmp_path / kind, languages=languages)
    rendered = set()

    def page(study: Study, texts: StudyTexts, template: str, *status: int, **values: Any) -> Any:
        rendered.add((texts.folder.name, template))
        return shown(study, texts, template, *status, **values)

    shown = vars(showing)["render"]
    monkeypatch.setattr(showing, "render", page)
    check_document(study)
    everywhere = {"consent.html", "instructions.html", "comments.html", "leave.html", "end.html"}
    tasks = {"survey": {"rate.html", "questions.html", "demographics.html"}}
    wanted = everywhere | {"notice.html"} | tasks.get(kind, set())
    assert {(language, name) for language in languages for name in wanted} <= rendered


def test_a_right_to_left_language_says_so(folder: Path) -> None:
    study = open_study(folder)
    assert study.texts("en").direction == "ltr"
    path = folder / "texts" / "en" / "consent.md"
    path.write_text(
        "# {title}\n\nشكرا لاهتمامكم بهذه الدراسة. {minutes} دقيقة {payment}", encoding="utf-8"
    )
    again = open_study(folder)
    assert again.texts("en").direction == "rtl"
    assert b'dir="rtl"' in consent_page(again, "en", "t").body


def test_a_folder_that_is_no_study_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="study new"):
        open_study(tmp_path)


def test_secrets_are_for_their_owner_only(folder: Path) -> None:
    assert (folder / "secrets.json").stat().st_mode & 0o077 == 0
