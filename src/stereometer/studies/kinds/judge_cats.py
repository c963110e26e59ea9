"""Label the associations of context association tests, as StereoSet's validators did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from stereometer.shapes.cat.files import read_cats, write
from stereometer.shapes.cat.items import LABELS, Cat
from stereometer.studies.fields import Choice, Form
from stereometer.studies.kinds.kind import Defaults, Judging, Page, Person, Source, write_writers

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
    adjustable = ("agree",)

    def items(self, study: Study) -> Mapping[str, Cat]:
        return study.cached(read_items)

    def page(self, study: Study, person: Person, at: int, unit: str) -> Page:
        cat, word = self.items(study)[unit], study.texts(person.language).word
        options = tuple((label, word(f"label_{label.replace('-', '_')}")) for label in OFFERED)
        shuffled = list(cat.candidates.values())
        person.lot(cat.id).shuffle(shuffled)
        fields = [Choice(f"s{place}", each.text, options) for place, each in enumerate(shuffled)]
        stored = {f"s{place}": each.id for place, each in enumerate(shuffled)}
        item = {"context": cat.context, "term": cat.target, "task": cat.task}
        shown = {**item, "number": at, "of": len(person.units)}
        return Page(f"label-{at}", "label_cat.html", Form(fields, stored=stored), cat.id, shown)

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
        write(folder / "items.json", [item for item in source.items if isinstance(item, Cat)])
        write_writers(folder, source.writers)


JUDGE_CATS = JudgeCats()


def labels(study: Study, person: Person) -> list[dict[str, Any]]:
    """One row per item and association: which candidate, its place on the page, and its label."""
    items = study.cached(read_items)
    return [
        {"item": unit, "candidate": candidate, "label": label, "place": place}
        for at, unit in enumerate(person.units, 1)
        if unit in items
        for place, (candidate, label) in enumerate(person.answers.get(f"label-{at}", {}).items(), 1)
    ]
