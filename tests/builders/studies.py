"""Small studies that tests make, and a person who fills in their pages."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI
from sqlalchemy import Select

from stereometer.wings.people.database import Database, open_database
from stereometer.wings.people.kinds.survey import NOTHING
from stereometer.wings.people.new import new_study
from stereometer.wings.people.pages.app import Limits, make_app
from stereometer.wings.people.participation import PanelArrival, Participation, Standing
from stereometer.wings.people.rehearsal import SeenForm, read_form
from stereometer.wings.people.study import Study, open_study
from tests.builders.clock import Clock as Clock

UNLIMITED = Limits((1e9, 1e9), (1e9, 1e9))


def set_toml(folder: Path, **values: object) -> Study:
    """The study with settings of its study.toml changed, wherever they stand."""
    path = folder / "study.toml"
    text = path.read_text(encoding="utf-8")
    for name, value in values.items():
        plain = value if isinstance(value, list) else str(value).lower()
        written = f'"{value}"' if isinstance(value, str) else str(plain)
        text, count = re.subn(rf"(?m)^{name} = [^#\n]*", f"{name} = {written}", text)
        assert count == 1, name
    path.write_text(text, encoding="utf-8")
    return open_study(folder)


def small_survey(
    folder: Path, groups: int = 5, languages: Sequence[str] = ("en",), **settings: object
) -> Study:
    """Five groups and three traits, so that it is soon filled."""
    new_study("survey", folder, languages=languages)
    for name, rows in (("groups.csv", groups), ("traits.csv", 3)):
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        (folder / name).write_text("\n".join(lines[: rows + 1]) + "\n", encoding="utf-8")
    return set_toml(folder, **settings)


@dataclass
class Desk:
    """A study with its database and a clock that tests set."""

    study: Study
    database: Database
    clock: Clock = field(default_factory=Clock)
    lot: random.Random = field(default_factory=lambda: random.Random(7))

    @property
    def participation(self) -> Participation:
        return Participation(self.study, self.database, self.clock, self.lot)

    def standing(self, participant: str) -> Standing:
        standing = self.participation.standing(participant)
        assert standing is not None
        return standing

    def arrive(self, name: str) -> str | None:
        return self.participation.consent(PanelArrival("prolific", _ids(name), "en"))


def _ids(name: str) -> dict[str, str]:
    return {"PROLIFIC_PID": name, "STUDY_ID": "s", "SESSION_ID": f"visit of {name}"}


def desk(study: Study) -> Desk:
    return Desk(study, open_database(study.folder))


def valid_answer(person: Desk, participant: str) -> tuple[str, dict[str, Any]] | None:
    """The page that is due, and an answer to it; None at the end."""
    standing = person.participation.standing(participant)
    assert standing is not None
    if standing.page is None:
        return None
    sent = {each.name: _sent(each) for each in standing.page.form.fields}
    if standing.page.key == "check-name":
        sent["name"] = standing.person.units[0]
    if standing.page.key == "check-traits":
        sent["low"] = NOTHING
    return standing.page.key, standing.page.form.read(sent)[0]


def _sent(control: Any) -> str:
    """Everything right of the middle, as the page shows it."""
    first = control.options[0][0] if control.kind == "choice" else ""
    return {"scale": "80", "text": "words"}.get(control.kind, first)


def finish(person: Desk, participant: str) -> str | None:
    """Answer every page that is left; the outcome."""
    while (due := valid_answer(person, participant)) is not None:
        person.participation.submit(participant, *due)
    standing = person.participation.standing(participant)
    return standing.outcome if standing else None


def finished(study: Study, *names: str) -> list[str]:
    """The numbers of people who have answered every page."""
    with closing(desk(study).database) as database:
        person = Desk(study, database)
        numbers = [str(person.arrive(name)) for name in names]
        assert [finish(person, number) for number in numbers] == ["complete"] * len(names)
    return numbers


def stored(study: Study, wanted: Select[Any]) -> list[Any]:
    """Rows of a study's database."""
    with closing(open_database(study.folder)) as database, database.read() as connection:
        return list(connection.execute(wanted).all())


def edited(folder: Path, name: str, before: str, after: str) -> None:
    """The first place in a study's file where something stands, changed."""
    text = (folder / name).read_text(encoding="utf-8")
    assert before in text
    (folder / name).write_text(text.replace(before, after, 1), encoding="utf-8")


def app_of(study: Study, limits: Limits = UNLIMITED) -> FastAPI:
    return make_app(Participation(study, open_database(study.folder)), limits=limits)


def client_of(study: Study, limits: Limits = UNLIMITED) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app_of(study, limits)),
        base_url="http://127.0.0.1",
        follow_redirects=True,
    )


class Browser:
    """Somebody at a browser, who waits for each answer."""

    def __init__(self, study: Study, limits: Limits = UNLIMITED) -> None:
        self.client = client_of(study, limits)
        self.cookies = self.client.cookies

    def get(self, path: str, **more: Any) -> httpx2.Response:
        return asyncio.run(self.client.get(path, **more))

    def post(self, path: str, **more: Any) -> httpx2.Response:
        return asyncio.run(self.client.post(path, **more))

    def agree(self, page: httpx2.Response, agree: str = "yes") -> httpx2.Response:
        return self.post("/consent", data={**read_form(page.text).hidden, "agree": agree})

    def consented(self, **query: Any) -> SeenForm:
        """The first page after consent."""
        return read_form(self.agree(self.get("/", params=query)).text)
