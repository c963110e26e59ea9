"""Small studies that tests make, and a person who fills in their pages."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from stereometer.studies.database import Database, open_database
from stereometer.studies.new import new_study
from stereometer.studies.pages.app import Limits, make_app
from stereometer.studies.participation import Arrival, Participation
from stereometer.studies.study import Study, open_study

UNLIMITED = Limits((1e9, 1e9), (1e9, 1e9))


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def set_toml(folder: Path, **values: object) -> Study:
    """The study with settings of its study.toml changed, wherever they stand."""
    path = folder / "study.toml"
    text = path.read_text(encoding="utf-8")
    for name, value in values.items():
        written = f'"{value}"' if isinstance(value, str) else str(value).lower()
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

    def arrive(self, name: str) -> str | None:
        return self.participation.consent(Arrival("prolific", _ids(name), "en"))


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
    values = {each.name: _value(each) for each in standing.page.form.fields}
    if standing.page.key == "check-name":
        values["name"] = standing.person.units[0]
    if standing.page.key == "check-traits":
        values = {"high": "t0", "low": "none"}
    return standing.page.key, values


def _value(control: Any) -> Any:
    return {"scale": 80, "text": "words", "number": None}.get(
        control.kind, control.options[0][0] if control.kind == "choice" else None
    )


def finish(person: Desk, participant: str) -> str | None:
    """Answer every page that is left; the outcome."""
    while (due := valid_answer(person, participant)) is not None:
        person.participation.submit(participant, *due)
    standing = person.participation.standing(participant)
    return standing.outcome if standing else None


def app_of(study: Study, limits: Limits = UNLIMITED) -> FastAPI:
    return make_app(Participation(study, open_database(study.folder)), limits=limits)


def client_of(study: Study, limits: Limits = UNLIMITED) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app_of(study, limits)),
        base_url="http://127.0.0.1",
        follow_redirects=True,
    )
