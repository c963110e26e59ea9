"""Write context association tests, as StereoSet's writers did."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from stereometer.shapes.cat.items import BLANK, LABELS, TASKS, Candidate, Cat
from stereometer.shapes.sentences import unique
from stereometer.studies.fields import Complaints, Form, Text, Values
from stereometer.studies.kinds.kind import Defaults, Kind, Page, Person, Source, Unit
from stereometer.tables import read_table

if TYPE_CHECKING:
    from stereometer.studies.study import Study

FIELDS = ("stereotype", "anti_stereotype", "unrelated")
COLUMNS = ("term", "domain", "source")
"""Of terms.csv; where a term is from may be left out."""
TERMS = (
    ("grandmother", "gender", ""), ("schoolgirl", "gender", ""), ("gentlemen", "gender", ""),
    ("librarian", "profession", ""), ("carpenter", "profession", ""),
    ("programmer", "profession", ""), ("Norwegian", "race", ""), ("Chilean", "race", ""),
    ("Pilgrim", "religion", ""), ("monk", "religion", ""),
)  # fmt: skip
"""Mild terms a new study begins with."""


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tasks: tuple[Literal["intrasentence", "intersentence"], ...] = TASKS  # type: ignore[assignment]
    """Within a sentence, across sentences, or both: a person alternates between them."""


@dataclass(frozen=True)
class Term:
    name: str
    domain: str


def read_terms(study: Study) -> dict[str, Term]:
    path = study.folder / "terms.csv"
    rows = [row for _, row in read_table(path, ["term", "domain"])]
    unique((row["term"] for row in rows), f"{path}: term")
    return {row["term"]: Term(row["term"], row["domain"]) for row in rows}


class WriteCats(Kind):
    name = "write-cats"
    does = "Write about stereotypes"
    about = "terms"
    leaves = (
        "Short sentences written to express a stereotype, its opposite and something unrelated. "
        "Some may offend."
    )
    options = Options
    settings = 'tasks = ["intrasentence", "intersentence"]\n'
    defaults = Defaults(3, 4, 3.0, 12)
    materials = ("terms.csv",)

    def units(self, study: Study) -> Sequence[Unit]:
        tasks = study.options(Options).tasks
        terms = study.cached(read_terms)
        return [Unit(f"{term}/{task}", term) for term in terms for task in tasks]

    def page(self, study: Study, person: Person, at: int, unit: str) -> Page:
        return _page(study, person, at, unit, len(person.units))

    def written(self, study: Study, person: Person) -> Sequence[Cat]:
        return [
            _cat(study, person, at, unit, person.answers[f"write-{at}"])
            for at, unit in enumerate(person.units, 1)
            if f"write-{at}" in person.answers
        ]

    def start(self, folder: Path, source: Source) -> None:
        rows = read_table(source.file, COLUMNS[:2]) if source.file else ()
        terms = [tuple(row.get(name) or "" for name in COLUMNS) for _, row in rows]
        with (folder / "terms.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *(terms or TERMS)])


WRITE_CATS = WriteCats()


def _page(study: Study, person: Person, at: int, unit: str, of: int) -> Page:
    name, _, task = unit.rpartition("/")
    term = study.cached(read_terms)[name]
    word = study.texts(person.language).word
    within = task == "intrasentence"
    associations = [Text(field, word(f"{task}_{field}"), 60 if within else 200) for field in FIELDS]
    context = Text("context", word(f"{task}_context"), 200)
    fields = [*associations, context] if within else [context, *associations]
    shown = {"term": name, "domain": term.domain, "task": task, "number": at, "of": of}
    rule = _within(name) if within else _across(name)
    return Page(f"write-{at}", "write_cat.html", Form(fields, rule), unit, shown)


def _within(term: str) -> Any:
    def rule(values: Values) -> Complaints:
        context = str(values["context"])
        if len(re.findall(rf"\b{BLANK}\b", context)) != 1:
            return {"context": "one_blank"}
        return _common(term, values)

    return rule


def _across(term: str) -> Any:
    def rule(values: Values) -> Complaints:
        return _common(term, values)

    return rule


def _common(term: str, values: Values) -> Complaints:
    if term.casefold() not in str(values["context"]).casefold():
        return {"context": "no_term"}
    sent = [str(values[field]).casefold() for field in FIELDS]
    for at, field in enumerate(FIELDS):
        if sent[at] in sent[:at]:
            return {field: "same_text"}
    return {}


def _cat(study: Study, person: Person, at: int, unit: str, values: Values) -> Cat:
    name, _, task = unit.rpartition("/")
    term = study.cached(read_terms)[name]
    context, id_ = str(values["context"]), f"{person.id}-{at}"
    texts = [str(values[field]) for field in FIELDS]
    if task == "intrasentence":
        before, after = re.split(rf"\b{BLANK}\b", context)
        texts = [before + text + after for text in texts]
    candidates = {
        label: Candidate(f"{id_}-{label}", text, (label,))
        for label, text in zip(LABELS, texts, strict=True)
    }
    return Cat(id_, task, name, term.domain, context, candidates)
