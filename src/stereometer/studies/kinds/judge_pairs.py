"""Judge minimal pairs with CrowS-Pairs' four questions, in the wording of either data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from stereometer.curation.aggregate.rules import NO_TYPE, Vote
from stereometer.shapes.pair.files import read_pairs, write
from stereometer.shapes.pair.items import Pair
from stereometer.studies.fields import Choice, Form
from stereometer.studies.kinds.kind import Defaults, Judging, Page, Person, Source, write_writers
from stereometer.studies.kinds.write_pairs import TYPES

if TYPE_CHECKING:
    from stereometer.studies.study import Study

VIEWS = ("demonstrates", "violates", "neither")
WORDINGS = {
    "crows-pairs": {name: f"type_{name.replace('-', '_')}" for name in (*TYPES, NO_TYPE)},
    "stereoset": {
        "race-color": "type_race_color",
        "gender": "type_gender_or_sex",
        "religion": "type_religion",
        "profession": "type_profession",
        NO_TYPE: "type_none",
    },
}
"""The types that each data set's wording offers, and the words for them."""


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")

    wording: Literal["crows-pairs", "stereoset"] = "crows-pairs"
    """Question 3 asks about the words that say who is meant, or about those that stereotype."""
    rule: Literal["writer-and-judges", "majority"] = "writer-and-judges"
    """The rule of the first validation (half of the judges and the writer) or of the second."""


def read_items(study: Study) -> dict[str, Pair]:
    return {pair.id: pair for pair in read_pairs(study.folder / "pairs.csv")}


SETTINGS = """\
wording = "crows-pairs"      # or "stereoset"
rule = "writer-and-judges"   # or "majority", that of the second validation
"""


class JudgePairs(Judging):
    name = "validate-pairs"
    does = "Judge pairs of sentences"
    about = "pairs"
    leaves = "Judgements of pairs that others wrote. Some of the pairs may offend."
    options = Options
    settings = SETTINGS
    defaults = Defaults(5, 10, 2.5, 10)
    materials = ("pairs.csv",)
    scale = "names"
    adjustable = ("rule",)

    def items(self, study: Study) -> Mapping[str, Pair]:
        return study.cached(read_items)

    def page(self, study: Study, person: Person, at: int, unit: str) -> Page:
        pair, word = self.items(study)[unit], study.texts(person.language).word
        wording = study.options(Options).wording
        minimal = word(f"judge_minimal_{wording.replace('-', '_')}")
        views = tuple((name, word(f"view_{name}")) for name in VIEWS)
        types = tuple((name, word(key)) for name, key in WORDINGS[wording].items())
        fields = [
            Choice("first", word("judge_first"), views),
            Choice("second", word("judge_second"), views),
            Choice("minimal", minimal, (("yes", word("yes")), ("no", word("no")))),
            Choice("type", word("judge_type"), types),
        ]
        order = ("more", "less") if _more_first(person, pair) else ("less", "more")
        texts = {"more": pair.sent_more, "less": pair.sent_less}
        sentences = tuple(texts[name] for name in order)
        shown = {"sentences": sentences, "number": at, "of": len(person.units)}
        form = Form(fields, stored=dict(zip(("first", "second"), order, strict=True)))
        return Page(f"judge-{at}", "judge_pair.html", form, pair.id, shown)

    def judged(self, study: Study, person: Person) -> Iterable[tuple[str, str]]:
        """Whether a pair is valid: what the paper's agreement is about."""
        for row in labels(study, person):
            yield row["item"], "valid" if vote_of(row).approves else "not valid"

    def start(self, folder: Path, source: Source) -> None:
        write(folder / "pairs.csv", [item for item in source.items if isinstance(item, Pair)])
        write_writers(folder, source.writers)


JUDGE_PAIRS = JudgePairs()


def _more_first(person: Person, pair: Pair) -> bool:
    """Whether `sent_more` is shown as sentence 1, at random."""
    return person.lot(pair.id).random() < 0.5


def vote_of(row: Mapping[str, str]) -> Vote:
    return Vote(row["more"], row["less"], row["minimal"] == "yes", row["type"])


def labels(study: Study, person: Person) -> list[dict[str, Any]]:
    """One row per pair: the view of `sent_more` and of `sent_less`, whether minimal, the type, and
    which sentence came first."""
    items = study.cached(read_items)
    sent = [(unit, person.answers.get(f"judge-{at}")) for at, unit in enumerate(person.units, 1)]
    return [
        {"item": unit, **values, "first": next(iter(values))}
        for unit, values in sent
        if values is not None and unit in items
    ]
