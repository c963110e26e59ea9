"""A study's folder, opened: its settings, materials, texts and secrets; and versions of what people
read and answer: frozen, by digest, at the first consent.

An answer keeps the meaning that it was given with: whoever has consented to a version goes on with
its copy in `versions/`, whatever becomes of the folder, and exports hold one version at a time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, select, update

from stereometer.core.errors import DataError, UsageError
from stereometer.core.files import read_text, replacing_folder
from stereometer.core.tables import empty_file
from stereometer.wings.people.config import Config, line_of, read_config
from stereometer.wings.people.database import Database, open_database, versions
from stereometer.wings.people.kinds import kind_called
from stereometer.wings.people.kinds.kind import WRITERS, Kind, KindOptions, Respondent, Unit
from stereometer.wings.people.secrets import Secrets, read_secrets
from stereometer.wings.people.texts import WORDS, StudyTexts, read_texts

T = TypeVar("T")
O = TypeVar("O", bound=KindOptions)  # noqa: E741


@dataclass(frozen=True, eq=False)
class Study:
    folder: Path
    config: Config
    home: Path | None = None
    """Where its keys are, of the copy of an earlier version."""
    _read: dict[Callable[[Study], Any], Any] = field(default_factory=dict)

    @cached_property
    def kind(self) -> Kind:
        return kind_called(self.config.kind)

    def options(self, model: type[O]) -> O:
        return model.model_validate(self.config.options)

    def cached(self, read: Callable[[Study], T]) -> T:
        """What a reader of the folder gives, read once."""
        if read not in self._read:
            self._read[read] = read(self)
        value: T = self._read[read]
        return value

    @cached_property
    def units(self) -> Sequence[Unit]:
        return self.kind.units(self)

    @cached_property
    def secrets(self) -> Secrets:
        return read_secrets(self.home or self.folder)

    @cached_property
    def frozen(self) -> Mapping[str, bytes]:
        """What people read and what their answers are about, by file, as it is when it is opened:
        a server goes on with that, whatever becomes of the folder."""
        names = ["study.toml", *self.kind.materials, WRITERS]
        paths = [self.folder / name for name in names]
        for language in self.config.languages:
            folder = self.folder / "texts" / language
            paths += sorted([*folder.glob("*.md"), *folder.glob(WORDS)])
        found = [path for path in paths if path.is_file()]
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in found}

    @property
    def promised(self) -> dict[str, Any]:
        """Settings that people read, or that decide what they are given and promised."""
        shown = {"kind", "title", "languages", "demographics", "pay"}
        options = self.config.options.items()
        return {
            **self.config.model_dump(mode="json", include=shown),
            "per_person": self.config.quota.per_person,
            "options": {name: of for name, of in options if name not in self.kind.adjustable},
        }

    @cached_property
    def _texts(self) -> dict[str, StudyTexts]:
        return {
            language: read_texts(self.folder / "texts" / language, self.config.kind)
            for language in self.config.languages
        }

    def texts(self, language: str) -> StudyTexts:
        return self._texts.get(language) or self._texts[self.config.languages[0]]

    def values(self, language: str) -> dict[str, str]:
        """What stands for {title} and the like in the pages of a language."""
        texts, config = self.texts(language), self.config
        return {
            "title": texts.name(config.title),
            "contact": config.contact or texts.word("no_contact"),
            "minutes": f"{config.pay.minutes:g}",
            "pay": texts.money(config.pay.complete, config.pay.currency),
            "partial": texts.money(config.pay.left, config.pay.currency),
            "payment": texts.payment(config.pay),
            "society": texts.name(str(config.options.get("society", ""))),
        }

    def bad_setting(self, what: str, *keys: str) -> DataError:
        toml = self.folder / "study.toml"
        return DataError(f"{toml}, line {line_of(read_text(toml), keys)}: {'.'.join(keys)}: {what}")

    def checked(self) -> Study:
        """The study itself, once everything in the folder was found fit to serve."""
        missing = [name for name in self.kind.materials if name not in self.frozen]
        if missing:
            raise DataError(
                f"{self.folder} has no {missing[0]}. A {self.kind.name} study needs it. Write it, "
                "or take it from a new folder of `stereometer study new`."
            )
        count = len(self.units)
        if not count:
            raise empty_file(self.folder / self.kind.materials[0])
        if self.config.quota.per_person > count:
            raise self.bad_setting(
                f"it is {self.config.quota.per_person}, and there are {count} "
                f"in {self.kind.materials[0]}. Nobody gets the same one twice. Write {count} "
                "or less.",
                *("quota", "per_person"),
            )
        if (refusal := self.kind.refusal(self)) is not None:
            raise DataError(f"{self.folder / 'study.toml'}: {refusal}")
        for texts in self._texts.values():
            texts.check()
        self.kind.pages(self, Respondent("", (self.units[0].name,), {}))  # reads what is frozen
        return self


def open_study(folder: Path | str) -> Study:
    folder = Path(folder)
    if not (folder / "study.toml").is_file():
        raise UsageError(
            f"{folder} is not a study: it has no study.toml. `stereometer study new survey "
            f"{folder}` makes one. Check the path."
        )
    return Study(folder, read_config(folder / "study.toml")).checked()


FOLDER = "versions"


@dataclass(frozen=True)
class Version:
    number: int
    files: Mapping[str, str]
    """The digest of each file; of study.toml those settings that people read or are promised."""

    @cached_property
    def digest(self) -> str:
        return _digest(json.dumps(self.files, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def digests(study: Study) -> dict[str, str]:
    settings = json.dumps(study.promised, sort_keys=True).encode()
    files = {**study.frozen, "study.toml": settings}
    return {name: _digest(content) for name, content in files.items()}


def digest(study: Study) -> str:
    """Of the version that the study is, or would be."""
    return Version(0, digests(study)).digest


def versions_of(connection: Connection) -> list[Version]:
    rows = connection.execute(select(versions).order_by(versions.c.number))
    return [Version(row.number, json.loads(row.files)) for row in rows]


def current(connection: Connection) -> int:
    """The number of the version that people join; that of the first before anybody has."""
    known = versions_of(connection)
    return known[-1].number if known else 1


def join(connection: Connection, study: Study, now: float) -> int:
    """The version that somebody who consents belongs to; the first is frozen here."""
    known = versions_of(connection)
    _check(study, known)
    return known[-1].number if known else _freeze(connection, study, 1, now)


def open_answers(study: Study, url: str | None = None) -> Database:
    """The database of a study whose folder is still what people have consented to."""
    database = open_database(study.folder, url)
    with database.read() as connection:
        _check(study, versions_of(connection))
    return database


def _changed(study: Study, version: Version) -> list[str]:
    return sorted({name for name, _ in digests(study).items() ^ version.files.items()})


def _check(study: Study, known: Sequence[Version]) -> None:
    """Raises where the folder is not what the latest version was."""
    if known and (changed := _changed(study, known[-1])):
        raise DataError(
            f"{study.folder}: {', '.join(changed)} changed after people gave their consent. Their "
            "answers are about what they have read, and answers to two versions are not joined. "
            f"Take it back from {FOLDER}/{known[-1].number}, make a new study, or run `stereometer "
            f"study revise {study.folder}`: a new version from now on."
        )


def revise(study: Study, url: str | None, now: float) -> tuple[int, list[str]]:
    """The number of a new version that people join from now on, and what is new in it."""
    database = open_database(study.folder, url)
    with database.write() as connection:
        known = versions_of(connection)
        changed = _changed(study, known[-1]) if known else []
        if not changed:
            raise UsageError(
                f"{study.folder} needs no new version. Nothing has changed since the first "
                "consent, or nobody has consented yet. Edit the folder first, or serve it as it is."
            )
        number = _freeze(connection, study, known[-1].number + 1, now)
    database.close()
    return number, changed


def _freeze(connection: Connection, study: Study, number: int, now: float) -> int:
    """The copy first: a row whose copy is missing would leave people without their pages."""
    with replacing_folder(study.folder / FOLDER / str(number)) as part:
        for name, content in study.frozen.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            (part / name).write_bytes(content)
    files = json.dumps(digests(study))
    connection.execute(versions.insert().values(number=number, files=files, at=now))
    return number


def study_of(study: Study, version: Version) -> Study:
    """The study as the people of a version see it, or a DataError where nobody can tell."""
    if not _changed(study, version):
        return study
    copy = copy_of(study, version.number)
    if changed := _changed(copy, version):
        raise DataError(
            f"{copy.folder}: {', '.join(changed)} is not what people have consented to. The copy "
            "was changed, or is not whole, and their answers would get another meaning. Restore "
            "it from a backup."
        )
    return copy


def copy_of(study: Study, number: int) -> Study:
    """Unchecked: a withdrawal that was interrupted has left it half changed, and is finished."""
    folder = study.folder / FOLDER / str(number)
    return Study(folder, read_config(folder / "study.toml"), study.folder)


def refreeze(connection: Connection, study: Study, number: int) -> None:
    """Record what a version has become by a withdrawal, which changes every version."""
    files = json.dumps(digests(copy_of(study, number)))
    connection.execute(update(versions).where(versions.c.number == number).values(files=files))
