"""Label the associations of context association tests, as StereoSet's validators did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from stereometer.benchmarks.starter import packaged as starter_files
from stereometer.shapes.cat.files import read_cats, write
from stereometer.shapes.cat.items import LABELS, Cat
from stereometer.studies.fields import Choice, Form
from stereometer.studies.kinds.kind import Page, Person, Source, Unit
from stereometer.studies.kinds.writers import read_writers, write_writers

if TYPE_CHECKING:
    from stereometer.studies.study import Study

OFFERED = (*LABELS, "related")


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")

    agree: int = Field(default=3, ge=2)
    """How many must give an association the same label."""


def read_items(study: Study) -> dict[str, Cat]:
    return {cat.id: cat for cat in read_cats(study.folder / "items.json")}


class JudgeCats:
    name: ClassVar[str] = "validate-cats"
    does: ClassVar[str] = "Label the associations of context association tests"
    options: ClassVar[type[BaseModel]] = Options
    counts_at_once: ClassVar[bool] = True
    materials: ClassVar[Sequence[str]] = ("items.json",)

    def units(self, study: Study) -> Sequence[Unit]:
        writers = study.cached(read_writers)
        return [Unit(id_, id_, writers.get(id_, "")) for id_ in study.cached(read_items)]

    def pages(self, study: Study, person: Person) -> Sequence[Page]:
        return [
            _page(study, person, at, study.cached(read_items)[unit])
            for at, unit in enumerate(person.units, 1)
        ]

    def checks(self, study: Study, person: Person) -> Mapping[str, bool]:
        return {}

    def start(self, folder: Path, source: Source) -> None:
        write(folder / "items.json", source.cats or read_cats(starter_files()[0]))
        write_writers(folder, source.writers)


JUDGE_CATS = JudgeCats()


def shuffled(person: Person, cat: Cat) -> list[str]:
    """The gold labels in the order in which their sentences are shown."""
    labels = list(cat.candidates)
    person.lot(cat.id).shuffle(labels)
    return labels


def _page(study: Study, person: Person, at: int, cat: Cat) -> Page:
    word = study.texts(person.language).word
    options = tuple((label, word(f"label_{label.replace('-', '_')}")) for label in OFFERED)
    fields = [
        Choice(f"s{place}", cat.candidates[label].text, options)
        for place, label in enumerate(shuffled(person, cat))
    ]
    shown = {
        "context": cat.context,
        "term": cat.target,
        "task": cat.task,
        "number": at,
        "of": len(person.units),
    }
    return Page(f"label-{at}", "label_cat.html", Form(fields), cat.id, shown)


def labels(study: Study, person: Person) -> list[dict[str, Any]]:
    """One row an item and association: which candidate, and the label it was given."""
    items = study.cached(read_items)
    return [
        {
            "item": unit,
            "candidate": items[unit].candidates[gold].id,
            "label": person.answers[f"label-{at}"][f"s{place}"],
        }
        for at, unit in enumerate(person.units, 1)
        if f"label-{at}" in person.answers
        for place, gold in enumerate(shuffled(person, items[unit]))
    ]
