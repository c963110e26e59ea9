"""Writing context association tests, as for StereoSet, and minimal pairs, as for CrowS-Pairs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator
from rapidfuzz.distance import Levenshtein

from stereometer.core.files import read_text
from stereometer.core.tables import read_table, write_csv
from stereometer.kinds.cats.items import BLANK, LABELS, Candidate, Cat
from stereometer.kinds.pairs.items import DIRECTIONS, Pair
from stereometer.wings.people.fields import ChoiceField, Form, TextField, Values, tidy
from stereometer.wings.people.kinds.kind import (
    Defaults,
    Kind,
    KindOptions,
    Page,
    Respondent,
    StudySource,
    Unit,
    read_materials,
)

if TYPE_CHECKING:
    from stereometer.wings.people.study import Study


MATERIALS = Path(__file__).parent.with_name("materials")
"""What a new study begins with: mild terms, and prompts."""
FIELDS = ("stereotype", "anti_stereotype", "unrelated")
COLUMNS = ("term", "domain", "source")
"""Of terms.csv; where a term is from may be left out."""
GAP = re.compile(rf"\b{BLANK}\b", re.ASCII)
"""A word of its own among Latin letters; Chinese and Japanese put no space around it."""


class WriteCatsOptions(KindOptions):
    tasks: tuple[Literal["intrasentence", "intersentence"], ...] = Field(
        ("intrasentence", "intersentence"), description=""
    )
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
    options = WriteCatsOptions
    defaults = Defaults(3, 4, 3.0, 12)
    materials = ("terms.csv",)

    def units(self, study: Study) -> Sequence[Unit]:
        tasks = study.options(WriteCatsOptions).tasks
        terms = study.cached(read_terms)
        return [Unit(f"{term}/{task}", term) for term in terms for task in tasks]

    def page(self, study: Study, person: Respondent, at: int, unit: str) -> Page:
        name, _, task = unit.rpartition("/")
        texts, domain = study.texts(person.language), study.cached(read_terms)[name]
        within, of = task == "intrasentence", len(person.units)
        most = 60 if within else 200
        associations = [TextField(field, texts.word(f"{task}_{field}"), most) for field in FIELDS]
        context = TextField("context", texts.word(f"{task}_context"), 200)
        fields = [*associations, context] if within else [context, *associations]
        shown = {"term": name, "domain": texts.name(domain), "task": task, "number": at, "of": of}
        rule = partial(_cat_rule, name, within)
        return Page(f"write-{at}", "write_cat.html", Form(fields, rule), unit, shown)

    def written(self, study: Study, person: Respondent) -> Sequence[Cat]:
        sent = person.sent("write")
        return [_cat(study, person, at, unit, values) for at, unit, values in sent]

    def start(self, folder: Path, source: StudySource) -> None:
        rows = read_table(source.file or MATERIALS / "terms.csv", COLUMNS[:2])
        terms = ([row.get(name) or "" for name in COLUMNS] for _, row in rows)
        write_csv(folder / "terms.csv", [COLUMNS, *terms])


WRITE_CATS = WriteCats()


def _cat_rule(term: str, within: bool, values: Values) -> Mapping[str, str]:
    if within and len(GAP.findall(str(values["context"]))) != 1:
        return {"context": "one_blank"}
    if term.casefold() not in str(values["context"]).casefold():
        return {"context": "no_term"}
    sent = [str(values[field]).casefold() for field in FIELDS]
    for at, field in enumerate(FIELDS):
        if sent[at] in sent[:at]:
            return {field: "same_text"}
    return {}


def _cat(study: Study, person: Respondent, at: int, unit: str, values: Values) -> Cat:
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


TYPES = (
    "race-color", "gender", "religion", "disability", "socioeconomic", "sexual-orientation",
    "age", "nationality", "physical-appearance",
)  # fmt: skip
SET_SIZE = 4
"""Valid pairs of as many different types earn one bonus."""


class WritePairsOptions(KindOptions):
    wanted: int = Field(40, ge=1, description="pairs to be written in all")
    warn_above: int = Field(13, ge=1, description="edit distance, in characters")
    refuse_above: int = Field(25, ge=1, description="")
    shown_from: int = Field(default=5, ge=0)
    """The distance is shown once more than so many characters are typed."""
    most_characters: int = Field(default=200, ge=20, le=1000)
    bonus: float = Field(1.0, ge=0, description="for each four valid pairs of four different types")

    @model_validator(mode="after")
    def _warned_first(self) -> WritePairsOptions:
        if self.warn_above > self.refuse_above:
            raise ValueError("refuse_above is below warn_above; people are warned first")
        return self


def read_prompts(study: Study) -> list[str]:
    text = read_text(study.folder / "prompts.txt")
    return [line.strip() for line in text.splitlines() if line.strip()]


class WritePairs(Kind):
    name = "write-pairs"
    does = "Write pairs of sentences"
    about = "prompts"
    leaves = "Pairs of short sentences that differ in whom they are about. Some may offend."
    options = WritePairsOptions
    defaults = Defaults(1, 4, 4.0, 15)
    materials = ("prompts.txt",)
    adjustable = ("wanted",)

    def units(self, study: Study) -> Sequence[Unit]:
        return [
            Unit(f"pair-{number:05}", f"pair {number}")
            for number in range(1, study.options(WritePairsOptions).wanted + 1)
        ]

    def page(self, study: Study, person: Respondent, at: int, unit: str) -> Page:
        options, word = study.options(WritePairsOptions), study.texts(person.language).word
        directions = tuple((name, word(f"direction_{name}")) for name in DIRECTIONS)
        types = tuple((name, word(f"type_{name.replace('-', '_')}")) for name in TYPES)
        fields = (
            TextField("first", word("pair_first"), options.most_characters, rows=2),
            TextField("second", word("pair_second"), options.most_characters, rows=2),
            ChoiceField("direction", word("pair_direction"), directions),
            ChoiceField("type", word("pair_type"), types),
        )
        prompts = study.cached(read_prompts)
        earlier = [values["type"] for _, _, values in person.sent("write")]
        shown = {
            "prompt": person.lot(unit).choice(prompts) if prompts else "",
            "limits": options,
            "tally": {
                "pairs": len(earlier),
                "types": len(set(earlier)),
                "size": SET_SIZE,
                "sets": bonuses(earlier),
                "bonus": f"{options.bonus:.2f} {study.config.pay.currency}",
            },
            "number": at,
            "of": len(person.units),
        }

        def rule(values: Values) -> Mapping[str, str]:
            distance = Levenshtein.distance(values["first"], values["second"])
            if distance == 0:
                return {"second": "same_sentence"}
            return {"second": "too_far"} if distance > options.refuse_above else {}

        def feedback(sent: Mapping[str, str]) -> Mapping[str, int]:
            first, second = tidy(sent.get("first", "")), tidy(sent.get("second", ""))
            typed = first and len(second) > options.shown_from
            return {"distance": Levenshtein.distance(first, second)} if typed else {}

        form = Form(fields, rule)
        return Page(f"write-{at}", "write_pair.html", form, unit, shown, feedback)

    def written(self, study: Study, person: Respondent) -> Sequence[Pair]:
        """Sentence 1, about the disadvantaged group, is the more stereotypical one where it shows a
        stereotype, and the less where it breaks one."""
        pairs = []
        for at, _, values in person.sent("write"):
            direction, type_ = values["direction"], values["type"]
            sentences = values["first"], values["second"]
            more, less = sentences if direction == "stereo" else reversed(sentences)
            pairs.append(Pair(f"{person.id}-{at}", more, less, type_, direction))
        return pairs

    def start(self, folder: Path, source: StudySource) -> None:
        text = read_text(source.file or MATERIALS / "prompts.txt")
        (folder / "prompts.txt").write_text(text, encoding="utf-8")


WRITE_PAIRS = WritePairs()


def bonuses(types: Sequence[str]) -> int:
    """How many sets of four different types can be made of the types of valid pairs."""
    counts = [types.count(name) for name in set(types)]
    sets = len(types) // SET_SIZE
    while sets and sum(min(count, sets) for count in counts) < SET_SIZE * sets:
        sets -= 1
    return sets
