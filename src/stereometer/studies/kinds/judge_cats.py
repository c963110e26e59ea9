"""Label the associations of context association tests, as StereoSet's validators did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from stereometer.shapes.cat.files import read_cats, write
from stereometer.shapes.cat.items import LABELS, Cat
from stereometer.studies.fields import Choice, Form
from stereometer.studies.kinds.kind import Defaults, Judging, Page, Person, Source
from stereometer.studies.kinds.writers import write_writers

if TYPE_CHECKING:
    from stereometer.studies.study import Study

OFFERED = (*LABELS, "related")


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")

    agree: int = Field(default=3, ge=2)
    """How many must give an association the same label."""


def read_items(study: Study) -> dict[str, Cat]:
    return {cat.id: cat for cat in read_cats(study.folder / "items.json")}


class JudgeCats(Judging):
    name = "validate-cats"
    does = "Judge sentences about stereotypes"
    about = "items"
    leaves = "Labels of sentences that others wrote. Some of the sentences may offend."
    options = Options
    settings = "agree = 3   # how many must give an association the same label\n"
    defaults = Defaults(5, 10, 2.5, 10)
    materials = ("items.json",)
    scale = "names"

    def items(self, study: Study) -> Mapping[str, Cat]:
        return study.cached(read_items)

    def page(self, study: Study, person: Person, at: int, unit: str) -> Page:
        return _page(study, person, at, self.items(study)[unit])

    def judged(self, study: Study, person: Person) -> Iterable[tuple[str, str]]:
        for row in labels(study, person):
            yield row["candidate"], row["label"]

    def refusal(self, study: Study) -> str | None:
        agree, validators = study.options(Options).agree, study.config.quota.judgements
        if agree <= validators:
            return None
        return (
            f"validate-cats.agree is {agree}, and quota.judgements is {validators}. So many never "
            f"agree, and no item would be kept. Write {validators} or less, or ask more people."
        )

    def start(self, folder: Path, source: Source) -> None:
        write(folder / "items.json", source.cats)
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
        if f"label-{at}" in person.answers and unit in items
        for place, gold in enumerate(shuffled(person, items[unit]))
    ]
