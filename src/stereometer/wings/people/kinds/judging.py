"""Judging what others wrote: labels of association tests, as StereoSet's validators gave them, and
minimal pairs with CrowS-Pairs' four questions, in the wording of either data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from stereometer.kinds.cats import files as cat_files
from stereometer.kinds.cats.items import LABELS, Cat
from stereometer.kinds.cats.shape import SHAPE as CATS
from stereometer.kinds.pairs import files as pair_files
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.pairs.shape import SHAPE as PAIRS
from stereometer.wings.curation.labels import NO_TYPE, vote_of
from stereometer.wings.people.fields import ChoiceField, Form
from stereometer.wings.people.kinds.kind import Judging, KindOptions, Page, Respondent
from stereometer.wings.people.kinds.writing import TYPES

if TYPE_CHECKING:
    from stereometer.wings.people.study import Study


OFFERED = (*LABELS, "related")


class JudgeCatsOptions(KindOptions):
    agree: int = Field(3, ge=2, description="how many must give an association the same label")


def cats_of(study: Study) -> dict[str, Cat]:
    return {cat.id: cat for cat in cat_files.read_cats(study.folder / "items.json")}


class JudgeCats(Judging):
    name = "validate-cats"
    does = "Judge sentences about stereotypes"
    about = "items"
    leaves = "Labels of sentences that others wrote. Some of the sentences may offend."
    options = JudgeCatsOptions
    materials = ("items.json",)
    shape = CATS
    adjustable = ("agree",)

    def items(self, study: Study) -> Mapping[str, Cat]:
        return study.cached(cats_of)

    def page(self, study: Study, person: Respondent, at: int, unit: str) -> Page:
        cat, word = self.items(study)[unit], study.texts(person.language).word
        options = tuple((label, word(f"label_{label.replace('-', '_')}")) for label in OFFERED)
        shuffled = list(cat.candidates.values())
        person.lot(cat.id).shuffle(shuffled)
        fields = [
            ChoiceField(f"s{place}", each.text, options) for place, each in enumerate(shuffled)
        ]
        stored = {f"s{place}": each.id for place, each in enumerate(shuffled)}
        item = {"context": cat.context, "term": cat.target, "task": cat.task}
        shown = {**item, "number": at, "of": len(person.units)}
        return Page(f"label-{at}", "label_cat.html", Form(fields, stored=stored), cat.id, shown)

    def labels(self, study: Study, person: Respondent) -> list[dict[str, Any]]:
        """One row per item and association: which candidate, its place on the page, its label."""
        items = self.items(study)
        return [
            {"item": unit, "candidate": candidate, "label": label, "place": place}
            for _, unit, sent in person.sent("label")
            if unit in items
            for place, (candidate, label) in enumerate(sent.items(), 1)
        ]

    def judged(self, study: Study, person: Respondent) -> Iterable[tuple[str, str]]:
        for row in self.labels(study, person):
            yield row["candidate"], row["label"]

    def refusal(self, study: Study) -> str | None:
        agree, validators = study.options(JudgeCatsOptions).agree, study.config.quota.judgements
        if agree <= validators:
            return None
        return (
            f"validate-cats.agree is {agree}, and quota.judgements is {validators}. So many never "
            f"agree, and no item would be kept. Write {validators} or less, or ask more people."
        )


JUDGE_CATS = JudgeCats()


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


class JudgePairsOptions(KindOptions):
    wording: Literal["crows-pairs", "stereoset"] = Field(
        "crows-pairs", description='or "stereoset"'
    )
    """Question 3 asks about the words that say who is meant, or about those that stereotype."""
    rule: Literal["writer-and-judges", "majority"] = Field(
        "writer-and-judges", description='or "majority", that of the second validation'
    )
    """The rule of the first validation (half of the judges and the writer) or of the second."""


def pairs_of(study: Study) -> dict[str, Pair]:
    return {pair.id: pair for pair in pair_files.read_pairs(study.folder / "pairs.csv")}


class JudgePairs(Judging):
    name = "validate-pairs"
    does = "Judge pairs of sentences"
    about = "pairs"
    leaves = "Judgements of pairs that others wrote. Some of the pairs may offend."
    options = JudgePairsOptions
    materials = ("pairs.csv",)
    shape = PAIRS
    adjustable = ("rule",)

    def items(self, study: Study) -> Mapping[str, Pair]:
        return study.cached(pairs_of)

    def page(self, study: Study, person: Respondent, at: int, unit: str) -> Page:
        pair, word = self.items(study)[unit], study.texts(person.language).word
        wording = study.options(JudgePairsOptions).wording
        minimal = word(f"judge_minimal_{wording.replace('-', '_')}")
        views = tuple((name, word(f"view_{name}")) for name in VIEWS)
        types = tuple((name, word(key)) for name, key in WORDINGS[wording].items())
        fields = [
            ChoiceField("first", word("judge_first"), views),
            ChoiceField("second", word("judge_second"), views),
            ChoiceField("minimal", minimal, (("yes", word("yes")), ("no", word("no")))),
            ChoiceField("type", word("judge_type"), types),
        ]
        more_first = person.lot(pair.id).random() < 0.5
        order = ("more", "less") if more_first else ("less", "more")
        texts = {"more": pair.sent_more, "less": pair.sent_less}
        sentences = tuple(texts[name] for name in order)
        shown = {"sentences": sentences, "number": at, "of": len(person.units)}
        form = Form(fields, stored=dict(zip(("first", "second"), order, strict=True)))
        return Page(f"judge-{at}", "judge_pair.html", form, pair.id, shown)

    def labels(self, study: Study, person: Respondent) -> list[dict[str, Any]]:
        """One row per pair: the views of both, whether minimal, the type, and which came first."""
        items = self.items(study)
        return [
            {"item": unit, **values, "first": next(iter(values))}
            for _, unit, values in person.sent("judge")
            if unit in items
        ]

    def judged(self, study: Study, person: Respondent) -> Iterable[tuple[str, str]]:
        """Whether a pair is valid: what the paper's agreement is about."""
        for row in self.labels(study, person):
            yield row["item"], "valid" if vote_of(row).approves else "not valid"


JUDGE_PAIRS = JudgePairs()
