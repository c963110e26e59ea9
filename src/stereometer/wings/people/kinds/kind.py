"""What a kind of study says of itself; everything else is the same for all kinds."""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from stereometer.core.errors import DataError
from stereometer.core.shapes.sentences import SentenceShape, unique
from stereometer.core.tables import read_table, write_csv
from stereometer.kinds.cats.items import Cat
from stereometer.kinds.pairs.items import Pair
from stereometer.wings.people.fields import Form, TextField, question

if TYPE_CHECKING:
    from stereometer.wings.people.study import Study

WRITERS = "writers.csv"
WRITER_COLUMNS = ("item", "writer")


def read_writers(study: Study) -> Mapping[str, str]:
    path = study.folder / WRITERS
    if not path.is_file():
        return {}
    return {row["item"]: row["writer"] for _, row in read_table(path, WRITER_COLUMNS)}


def write_writers(folder: Path, writers: Mapping[str, str]) -> None:
    if writers:
        write_csv(folder / WRITERS, [WRITER_COLUMNS, *writers.items()])


def read_materials(path: Path, columns: Sequence[str], noun: str) -> list[dict[str, str]]:
    """Rows whose first column is their name: answers are stored under it."""
    rows = []
    for line, row in read_table(path, columns):
        rows.append({**row, **{column: row[column].strip() for column in columns}})
        empty = [column for column in columns if not rows[-1][column]]
        if empty:
            raise DataError(
                f"{path}, line {line}: {empty[0]} is empty. People would see nothing in its place. "
                "Write it, or leave out the row."
            )
    unique((row[columns[0]] for row in rows), f"{path}: {noun}")
    return rows


Answers = Mapping[str, Mapping[str, Any]]
"""What a person sent, by page."""
INSTRUCTIONS = "instructions"
"""The page whose answer is what was drawn for a person."""


@dataclass(frozen=True)
class Unit:
    """What is counted: a group to rate, a term to write about, an item to judge."""

    name: str
    label: str
    writer: str = ""
    """The keyed hash of who wrote it, who may not judge it."""


@dataclass(frozen=True)
class Respondent:
    """What decides the pages of a participant."""

    id: str
    units: tuple[str, ...]
    """Names of the units given to this person, in order."""
    answers: Answers
    language: str = "en"

    def lot(self, purpose: str) -> random.Random:
        """Draws that are the same whenever the page is shown."""
        return random.Random(f"{self.id}/{purpose}")

    def sent(self, page: str) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
        """Number, unit and answer of each page that was sent, of those about units."""
        for at, unit in enumerate(self.units, 1):
            if (answer := self.answers.get(f"{page}-{at}")) is not None:
                yield at, unit, answer


@dataclass(frozen=True)
class Page:
    key: str
    template: str
    form: Form
    unit: str | None = None
    shown: Mapping[str, Any] = field(default_factory=dict)
    """What the template shows beside the form."""
    feedback: Callable[[Mapping[str, str]], Mapping[str, Any]] = lambda sent: {}
    """What it shows of a form that comes back, for browsers without script."""


@dataclass(frozen=True)
class StudySource:
    """What a new study is made from: items to judge, or a file; empty if it starts from scratch."""

    file: Path | None = None
    items: Sequence[Cat | Pair] = ()
    writers: Mapping[str, str] = field(default_factory=dict)
    """The keyed hash of who wrote each item, where that is known."""


@dataclass(frozen=True)
class Defaults:
    """What a new study of a kind begins with."""

    judgements: int
    per_person: int
    pay: float
    """In dollars, for whoever completes."""
    minutes: int
    demographics: tuple[str, ...] = ()


class KindOptions(BaseModel):
    """The section of study.toml that carries a kind's name."""

    model_config = ConfigDict(extra="forbid")


class Kind(ABC):
    """A kind of study; one that is written or judged page by page says little more than `page`."""

    name: ClassVar[str]
    does: ClassVar[str]
    """What a person does in it, as a heading."""
    about: ClassVar[str]
    """What its units are, in the plural."""
    leaves: ClassVar[str]
    """What its answers are like, for the data statement."""
    options: ClassVar[type[KindOptions]]
    defaults: ClassVar[Defaults]
    materials: ClassVar[Sequence[str]]
    """Files that the folder must have."""
    counts_at_once: ClassVar[bool] = True
    """Whether a unit counts when its page is in, or only when the whole participation passes."""
    passing: ClassVar[float] = 1.0
    """The share of people who pass the checks in the study that the kind follows."""
    check_names: ClassVar[Sequence[str]] = ()
    """What `checks` may give."""
    scale: ClassVar[Literal["names", "numbers"] | None] = None
    """What people judge with, where they judge."""
    adjustable: ClassVar[Sequence[str]] = ()
    """Options that decide nothing people read or are promised: they may change at any time."""

    @property
    def settings(self) -> str:
        """That section as a new study has it: options that are described, with their defaults."""
        fields = self.options.model_fields.items()
        comments = {
            f"{name} = {json.dumps(of.default)}": of.description
            for name, of in fields
            if of.description is not None
        }
        width = max(map(len, comments)) + 3
        lines = [f"{line:{width}}# {what}" if what else line for line, what in comments.items()]
        return "\n".join(lines) + "\n"

    @abstractmethod
    def units(self, study: Study) -> Sequence[Unit]: ...

    @abstractmethod
    def page(self, study: Study, person: Respondent, at: int, unit: str) -> Page:
        """The page about a person's unit, counted from 1."""

    def pages(self, study: Study, person: Respondent) -> Sequence[Page]:
        """The pages between the instructions and the last questions."""
        return [self.page(study, person, at, unit) for at, unit in enumerate(person.units, 1)]

    def arrangement(self, study: Study, person: Respondent) -> Mapping[str, Any]:
        """What is drawn for a person before the first task, and kept with their answers."""
        return {}

    def checks(self, study: Study, person: Respondent) -> Mapping[str, bool]:
        """Whether each check was passed, of a person who has answered everything."""
        return {}

    def judged(self, study: Study, person: Respondent) -> Iterable[tuple[str, str | float]]:
        """What a person judged, and how."""
        return ()

    def written(self, study: Study, person: Respondent) -> Sequence[Cat | Pair]:
        """The items that a person wrote."""
        return ()

    def refusal(self, study: Study) -> str | None:
        """Why settings that are fine by themselves cannot be served together."""
        return None

    @abstractmethod
    def start(self, folder: Path, source: StudySource) -> None:
        """Write the materials of a new study."""


class Judging(Kind):
    """People judge items that others wrote."""

    defaults = Defaults(5, 10, 2.5, 10)
    scale = "names"
    shape: ClassVar[SentenceShape]

    @abstractmethod
    def items(self, study: Study) -> Mapping[str, Cat | Pair]: ...

    @abstractmethod
    def labels(self, study: Study, person: Respondent) -> list[dict[str, Any]]:
        """One row per thing that a person judged."""

    def units(self, study: Study) -> Sequence[Unit]:
        writers = study.cached(read_writers)
        return [Unit(id_, id_, writers.get(id_, "")) for id_ in self.items(study)]

    def pages(self, study: Study, person: Respondent) -> Sequence[Page]:
        """Those of items that are still there: who wrote them may have withdrawn."""
        items = self.items(study)
        return [
            self.page(study, person, at, unit)
            for at, unit in enumerate(person.units, 1)
            if unit in items
        ]

    def start(self, folder: Path, source: StudySource) -> None:
        self.shape.write(folder / self.materials[0], source.items)
        write_writers(folder, source.writers)


DEMOGRAPHICS = "demographics"
COMMENTS = "comments"


def last_pages(study: Study, person: Respondent) -> Sequence[Page]:
    texts = study.texts(person.language)
    questions = [question(name, texts.word) for name in study.config.demographics]
    comments = TextField(COMMENTS, texts.word("comments"), 2000, required=False, rows=5)
    pages = [Page(DEMOGRAPHICS, "demographics.html", Form(questions))] if questions else []
    return [*pages, Page(COMMENTS, "comments.html", Form([comments]))]
