"""How groups are seen: the survey of the ABC paper, with its three checks."""

from __future__ import annotations

import math
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from rapidfuzz.distance import OSA

from stereometer.core.errors import did_you_mean
from stereometer.core.tables import read_table, write_csv
from stereometer.kinds.traits.abc.files import Trait
from stereometer.kinds.traits.abc.items import data_file
from stereometer.kinds.traits.abc.survey import RATED, SOCIETY
from stereometer.wings.people.fields import ChoiceField, Form, ScaleField, TextField
from stereometer.wings.people.kinds.kind import (
    INSTRUCTIONS,
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

MIDDLE = 50
NOTHING = "(none)"
SHORT = 3
"""Letters of a name that may only be exchanged."""


class GroupSurveyOptions(KindOptions):
    society: str = Field(SOCIETY, description="whose view is asked for")
    groups: tuple[str, ...] = Field(
        (), description="those of groups.csv that are rated; all where none is named"
    )
    name_check: Literal["text", "choice"] = Field(
        "text", description='or "choice": name the first group, or pick it from four'
    )
    name_distance: int = Field(2, ge=0, le=5, description="edits by which a typed name may differ")
    repeat_share: float = Field(
        0.8,
        ge=0,
        le=1,
        description="share of traits that must come out alike when a group is repeated",
    )
    repeat_points: int = Field(
        20, ge=0, le=100, description="ratings this near to each other are alike"
    )
    """Even on two sides of the middle."""
    trait_order: Literal["random", "fixed"] = Field(
        "random", description='or "fixed": the order of traits.csv for everybody'
    )
    poles: Literal["random", "fixed"] = Field(
        "random", description='or "fixed": nobody gets a scale turned round'
    )
    """At random half of the scales are turned round."""


def read_groups(study: Study) -> dict[str, str]:
    """The label of each group, as it stands on the page."""
    rows = read_materials(study.folder / "groups.csv", ["name"], "group")
    labels = {row["name"]: row.get("label") or row["name"] for row in rows}
    return {name: labels[name] for name in _rated(study, list(labels))}


def _rated(study: Study, known: Sequence[str]) -> Sequence[str]:
    wanted = study.options(GroupSurveyOptions).groups
    for name in wanted:
        if name not in known:
            raise study.bad_setting(
                f"there is no group {name!r} in groups.csv."
                + (f" {did_you_mean(name, {each: each for each in known})}".rstrip()),
                *("survey", "groups"),
            )
    return tuple(dict.fromkeys(wanted)) or known


def read_traits(study: Study) -> list[Trait]:
    rows = read_materials(study.folder / "traits.csv", ["name", "left", "right"], "trait")
    return [Trait(row["name"], "", row["left"], row["right"]) for row in rows]


ASKED = ("gender", "race", "age", "education", "area", "state", "years")


class GroupSurvey(Kind):
    name = "survey"
    does = "How groups are seen"
    about = "groups"
    leaves = "Numbers from 0 to 100 on scales between two opposite traits; no free text."
    options = GroupSurveyOptions
    defaults = Defaults(20, 4, 2.0, 10, ASKED)
    materials = ("groups.csv", "traits.csv")
    counts_at_once = False
    passing = 133 / 247
    check_names = ("name", "traits", "repeat")
    scale = "numbers"

    def units(self, study: Study) -> Sequence[Unit]:
        return [Unit(name, label) for name, label in study.cached(read_groups).items()]

    def page(self, study: Study, person: Respondent, at: int, unit: str) -> Page:
        return _rating(study, person, f"rate-{at}", unit)

    def pages(self, study: Study, person: Respondent) -> Sequence[Page]:
        groups = person.units
        pages = [self.page(study, person, at, name) for at, name in enumerate(groups, 1)]
        checks = [_name_check(study, person, groups[0])]
        if len(groups) > 1:
            checks.append(_trait_check(study, person, groups[1]))
        for place, check in zip((1, 3), checks, strict=False):
            pages.insert(place, check)
        return [*pages, _rating(study, person, "rate-again", repeated(person))]

    def arrangement(self, study: Study, person: Respondent) -> Mapping[str, Any]:
        """The order of the traits, and those whose poles are exchanged, on every page alike."""
        options, lot = study.options(GroupSurveyOptions), person.lot(INSTRUCTIONS)
        order = [trait.name for trait in study.cached(read_traits)]
        turned = lot.sample(order, len(order) // 2) if options.poles == "random" else []
        if options.trait_order == "random":
            lot.shuffle(order)
        return {"order": order, "turned": turned}

    def checks(self, study: Study, person: Respondent) -> Mapping[str, bool]:
        options = study.options(GroupSurveyOptions)
        passed = {
            "name": _named(study, options, person),
            "repeat": _alike(study, options, person) >= options.repeat_share,
        }
        if "check-traits" in person.answers:
            passed["traits"] = _sides_right(person)
        return passed

    def judged(self, study: Study, person: Respondent) -> Iterable[tuple[str, float]]:
        for row in ratings(study, person):
            yield f"{row['group']}/{row['trait']}", row["rating"]

    def start(self, folder: Path, source: StudySource) -> None:
        shutil.copyfile(data_file("traits.csv"), folder / "traits.csv")
        rows = {row["name"]: row for _, row in read_table(data_file("groups.csv"), ["plural"])}
        groups = [(name, rows[name]["plural"], rows[name]["domain"]) for name in RATED]
        write_csv(folder / "groups.csv", [("name", "label", "domain"), *groups])


SURVEY = GroupSurvey()


def repeated(person: Respondent) -> str:
    """The group that is rated again: any but the last, at random."""
    return person.lot("repeat").choice(person.units[:-1] or person.units)


def _label(study: Study, person: Respondent, group: str) -> str:
    label = study.cached(read_groups)[group]
    return study.texts(person.language).name(label)


def _turned(person: Respondent) -> Sequence[str]:
    """Traits whose right pole this person sees on the left."""
    turned: Sequence[str] = person.answers.get(INSTRUCTIONS, {}).get("turned", ())
    return turned


def _scales(study: Study, person: Respondent) -> dict[str, ScaleField]:
    """The scales as this person sees them, by trait; a control is numbered by the table."""
    name_of, traits = study.texts(person.language).name, study.cached(read_traits)
    scales = {}
    for at, trait in enumerate(traits):
        turned = trait.name in _turned(person)
        left, right = (trait.right, trait.left) if turned else (trait.left, trait.right)
        scales[trait.name] = ScaleField(f"t{at}", name_of(left), name_of(right), turned)
    order = person.answers.get(INSTRUCTIONS, {}).get("order", scales)
    return {name: scales[name] for name in order}


def _rating(study: Study, person: Respondent, key: str, group: str) -> Page:
    scales = _scales(study, person)
    form = Form([*scales.values()], stored={scale.name: name for name, scale in scales.items()})
    number = len(person.units) + 1 if key == "rate-again" else int(key.removeprefix("rate-"))
    shown = {
        "group": _label(study, person, group),
        "society": study.texts(person.language).name(study.options(GroupSurveyOptions).society),
        "number": number,
        "of": len(person.units) + 1,
    }
    return Page(key, "rate.html", form, group, shown)


def _name_check(study: Study, person: Respondent, group: str) -> Page:
    label = study.texts(person.language).word("check_name")
    if study.options(GroupSurveyOptions).name_check == "text":
        return Page("check-name", "questions.html", Form([TextField("name", label, 80)]))
    others = [name for name in study.cached(read_groups) if name != group]
    lot = person.lot("name")
    four = [group, *lot.sample(others, min(3, len(others)))]
    lot.shuffle(four)
    options = tuple((name, _label(study, person, name)) for name in four)
    return Page("check-name", "questions.html", Form([ChoiceField("name", label, options)]))


def _trait_check(study: Study, person: Respondent, group: str) -> Page:
    texts = study.texts(person.language)
    scales = _scales(study, person)
    names = [(name, f"{scale.left} – {scale.right}") for name, scale in scales.items()]
    options = (*names, (NOTHING, texts.word("check_no_trait")))
    fields = [
        ChoiceField(side, texts.word(f"check_{side}"), options, listed=True)
        for side in ("high", "low")
    ]
    shown = {"about": _label(study, person, group)}
    return Page("check-traits", "questions.html", Form(fields), None, shown)


def _named(study: Study, options: GroupSurveyOptions, person: Respondent) -> bool:
    group, sent = person.units[0], person.answers["check-name"]["name"]
    if options.name_check == "choice":
        return bool(sent == group)
    texts = study.texts(person.language)
    left_out = {_plain(word) for word in texts.left_out}
    away = {}
    for name, label in study.cached(read_groups).items():
        names = {name, label, texts.name(label), *texts.other_names(label)}
        known = {_bare(each, left_out) for each in names}
        away[name] = _away(_bare(sent, left_out), known, options)
    return away[group] < math.inf and away[group] == min(away.values())


def _away(typed: str, names: set[str], options: GroupSurveyOptions) -> float:
    """Edits between what was typed and the nearest name of a group: "women" is not "men", and in a
    short name fewer letters may differ: "n" is nobody's, and "mean" is not "men", but "mne" is."""
    forms = {form for name in names for form in (name, f"{name}s", name.removesuffix("s"))}
    edits = [
        (OSA.distance(typed, form), form)
        for form in forms
        if len(form.removesuffix("s")) > SHORT or sorted(typed) == sorted(form)
    ]
    near = [
        edit for edit, form in edits if edit <= min(options.name_distance, (len(form) + 1) // 4)
    ]
    return min(near, default=math.inf)


def _plain(text: str) -> str:
    return " ".join("".join(sign if sign.isalnum() else " " for sign in text.casefold()).split())


def _bare(text: str, left_out: Collection[str]) -> str:
    """Without articles, and the words that stand for people in general."""
    return " ".join(part for part in _plain(text).split() if part not in left_out)


def _sides_right(person: Respondent) -> bool:
    """Left and right are those of the page."""
    said, turned = person.answers["check-traits"], _turned(person)
    ratings = {
        name: 2 * MIDDLE - value if name in turned else value
        for name, value in person.answers["rate-2"].items()
    }
    high = {name for name, value in ratings.items() if value > MIDDLE}
    low = {name for name, value in ratings.items() if value < MIDDLE}
    return said["high"] in (high or {NOTHING}) and said["low"] in (low or {NOTHING})


def _alike(study: Study, options: GroupSurveyOptions, person: Respondent) -> float:
    """The share of traits that were rated alike both times."""
    first = person.answers[f"rate-{person.units.index(repeated(person)) + 1}"]
    again = person.answers["rate-again"]
    alike = [
        _side(first[name]) == _side(again[name])
        or abs(first[name] - again[name]) <= options.repeat_points
        for name in first
    ]
    return alike.count(True) / len(alike)


def _side(rating: int) -> int:
    return (rating > MIDDLE) - (rating < MIDDLE)


def ratings(study: Study, person: Respondent) -> list[dict[str, Any]]:
    """One row per group and trait: its first rating, its place on the page, whether turned."""
    turned = _turned(person)
    return [
        {
            "group": group,
            "trait": trait,
            "rating": rating,
            "place": place,
            "turned": "yes" if trait in turned else "",
        }
        for _, group, sent in person.sent("rate")
        for place, (trait, rating) in enumerate(sent.items(), 1)
    ]
