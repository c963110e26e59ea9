"""A study's folder, opened: its settings, materials, texts and secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from stereometer.errors import DataError, UsageError
from stereometer.studies.config import Config, line_of, read_config
from stereometer.studies.kinds import kind_called
from stereometer.studies.kinds.kind import WRITERS, Kind, Person, Unit
from stereometer.studies.secrets import Secrets, read_secrets
from stereometer.studies.texts import PARTS, WORDS, Texts, read_texts
from stereometer.tables import empty_file

T = TypeVar("T")
O = TypeVar("O", bound=BaseModel)  # noqa: E741


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
    def _texts(self) -> dict[str, Texts]:
        return {
            language: read_texts(self.folder / "texts" / language, self.config.kind)
            for language in self.config.languages
        }

    def texts(self, language: str) -> Texts:
        return self._texts.get(language) or self._texts[self.config.languages[0]]

    def values(self, language: str) -> dict[str, str]:
        """What stands for {title} and the like in the pages of a language."""
        texts, config = self.texts(language), self.config
        return {
            "title": texts.name(config.title),
            "contact": texts.contact(config.contact),
            "minutes": f"{config.pay.minutes:g}",
            "pay": texts.money(config.pay.complete, config.pay.currency),
            "partial": texts.money(config.pay.left, config.pay.currency),
            "payment": texts.payment(config.pay),
            "society": texts.name(str(config.options.get("society", ""))),
        }

    def bad_setting(self, what: str, *keys: str) -> DataError:
        toml = self.folder / "study.toml"
        return DataError(f"{toml}, line {line_of(toml, *keys)}: {'.'.join(keys)}: {what}")

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
            texts.checked(PARTS)
        self.kind.pages(self, Person("", (self.units[0].name,), {}))  # reads what is frozen
        return self


def open_study(folder: Path | str) -> Study:
    folder = Path(folder)
    if not (folder / "study.toml").is_file():
        raise UsageError(
            f"{folder} is not a study: it has no study.toml. `stereometer study new survey "
            f"{folder}` makes one. Check the path."
        )
    return Study(folder, read_config(folder / "study.toml")).checked()
