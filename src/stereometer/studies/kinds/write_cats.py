"""Write context association tests, as StereoSet's writers did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from stereometer.shapes.cat.items import BLANK, LABELS, TASKS, Candidate, Cat
from stereometer.studies.fields import Complaints, Form, Text, Values
from stereometer.studies.kinds.kind import (
    Defaults,
    Kind,
    Page,
    Person,
    Source,
    Unit,
    read_materials,
    write_materials,
)
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
GAP = re.compile(rf"\b{BLANK}\b", re.ASCII)
"""A word of its own among Latin letters; Chinese and Japanese put no space around it."""


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tasks: tuple[Literal["intrasentence", "intersentence"], ...] = TASKS  # type: ignore[assignment]
    """Within a sentence, across sentences, or both: a person alternates between them."""


def read_terms(study: Study) -> dict[str, str]:
    """The domain of each term."""
    rows = read_materials(study.folder / "terms.csv", COLUMNS[:2], "term")
    return {row["term"]: row["domain"] for row in rows}


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
        name, _, task = unit.rpartition("/")
        texts, domain = study.texts(person.language), study.cached(read_terms)[name]
        within, of = task == "intrasentence", len(person.units)
        most = 60 if within else 200
        associations = [Text(field, texts.word(f"{task}_{field}"), most) for field in FIELDS]
        context = Text("context", texts.word(f"{task}_context"), 200)
        fields = [*associations, context] if within else [context, *associations]
        shown = {"term": name, "domain": texts.name(domain), "task": task, "number": at, "of": of}
        rule = partial(_rule, name, within)
        return Page(f"write-{at}", "write_cat.html", Form(fields, rule), unit, shown)

    def written(self, study: Study, person: Person) -> Sequence[Cat]:
        return [
            _cat(study, person, at, unit, person.answers[f"write-{at}"])
            for at, unit in enumerate(person.units, 1)
            if f"write-{at}" in person.answers
        ]

    def start(self, folder: Path, source: Source) -> None:
        rows = read_table(source.file, COLUMNS[:2]) if source.file else ()
        terms = [tuple(row.get(name) or "" for name in COLUMNS) for _, row in rows]
        write_materials(folder / "terms.csv", [COLUMNS, *(terms or TERMS)])


WRITE_CATS = WriteCats()


def _rule(term: str, within: bool, values: Values) -> Complaints:
    if within and len(GAP.findall(str(values["context"]))) != 1:
        return {"context": "one_blank"}
    if term.casefold() not in str(values["context"]).casefold():
        return {"context": "no_term"}
    sent = [str(values[field]).casefold() for field in FIELDS]
    for at, field in enumerate(FIELDS):
        if sent[at] in sent[:at]:
            return {field: "same_text"}
    return {}


def _cat(study: Study, person: Person, at: int, unit: str, values: Values) -> Cat:
    name, _, task = unit.rpartition("/")
    domain = study.cached(read_terms)[name]
    context, id_ = str(values["context"]), f"{person.id}-{at}"
    texts = [str(values[field]) for field in FIELDS]
    if task == "intrasentence":
        before, after = GAP.split(context)
        texts = [before + text + after for text in texts]
    candidates = {
        label: Candidate(f"{id_}-{label}", text, (label,))
        for label, text in zip(LABELS, texts, strict=True)
    }
    return Cat(id_, task, name, domain, context, candidates)
