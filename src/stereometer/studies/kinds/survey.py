"""How groups are seen: the survey of the ABC paper, with its three checks."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from rapidfuzz.distance import OSA

from stereometer.benchmarks.abc.items import data_file
from stereometer.benchmarks.abc.survey import RATED, SOCIETY
from stereometer.errors import did_you_mean
from stereometer.shapes.sentences import unique
from stereometer.studies.fields import Choice, Form, Scale, Text
from stereometer.studies.kinds.kind import Answers, Defaults, Kind, Page, Person, Source, Unit
from stereometer.tables import read_table

if TYPE_CHECKING:
    from stereometer.studies.study import Study

MIDDLE = 50
NOTHING = "none"


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")

    society: str = SOCIETY
    """Whose view is asked for."""
    groups: tuple[str, ...] = ()
    """Those of groups.csv that are rated; all where none is named."""
    name_check: Literal["text", "choice"] = "text"
    name_distance: int = Field(default=2, ge=0, le=5)
    """Edits by which a typed name may differ."""
    repeat_share: float = Field(default=0.8, ge=0, le=1)
    """Share of the traits that must come out alike when a group is rated again."""
    repeat_points: int = Field(default=20, ge=0, le=100)
    """Two ratings within this distance are alike even on two sides of the middle."""


@dataclass(frozen=True)
class Trait:
    name: str
    left: str
    right: str


def read_groups(study: Study) -> dict[str, str]:
    """The label of each group, as it stands on the page."""
    path = study.folder / "groups.csv"
    rows = [row for _, row in read_table(path, ["name"])]
    unique((row["name"] for row in rows), f"{path}: group")
    labels = {row["name"]: row.get("label") or row["name"] for row in rows}
    return {name: labels[name] for name in _rated(study, list(labels))}


def _rated(study: Study, known: Sequence[str]) -> Sequence[str]:
    wanted = study.options(Options).groups
    for name in wanted:
        if name not in known:
            raise study.bad_setting(
                f"there is no group {name!r} in groups.csv."
                + (f" {did_you_mean(name, {each: each for each in known})}".rstrip()),
                *("survey", "groups"),
            )
    return tuple(dict.fromkeys(wanted)) or known


def read_traits(study: Study) -> list[Trait]:
    rows = read_table(study.folder / "traits.csv", ["name", "left", "right"])
    return [Trait(row["name"], row["left"], row["right"]) for _, row in rows]


SETTINGS = """\
society = "American society"   # whose view is asked for
groups = []                    # those of groups.csv that are rated; all where none is named
name_check = "text"            # or "choice": name the first group, or pick it from four
name_distance = 2              # edits by which a typed name may differ
repeat_share = 0.8             # share of traits that must come out alike when a group is repeated
repeat_points = 20             # ratings this near to each other are alike
"""
ASKED = ("gender", "race", "age", "education", "area", "state", "years")


class Survey(Kind):
    name = "survey"
    does = "How groups are seen"
    about = "groups"
    leaves = "Numbers from 0 to 100 on scales between two opposite traits; no free text."
    options = Options
    settings = SETTINGS
    defaults = Defaults(20, 4, 2.0, 10, ASKED)
    materials = ("groups.csv", "traits.csv")
    counts_at_once = False
    made_from = "nothing"
    passing = 133 / 247
    check_names = ("name", "traits", "repeat")
    scale = "numbers"

    def units(self, study: Study) -> Sequence[Unit]:
        return [Unit(name, label) for name, label in study.cached(read_groups).items()]

    def page(self, study: Study, person: Person, at: int, unit: str) -> Page:
        return _rating(study, person, f"rate-{at}", unit)

    def pages(self, study: Study, person: Person) -> Sequence[Page]:
        groups = person.units
        pages = [self.page(study, person, at, name) for at, name in enumerate(groups, 1)]
        checks = [_name_check(study, person, groups[0])] if groups else []
        if len(groups) > 1:
            checks.append(_trait_check(study, person, groups[1]))
        for place, check in zip((1, 3), checks, strict=False):
            pages.insert(place, check)
        return [*pages, _rating(study, person, "rate-again", repeated(person))]

    def checks(self, study: Study, person: Person) -> Mapping[str, bool]:
        options = study.options(Options)
        passed = {
            "name": _named(study, options, person),
            "repeat": _alike(study, options, person) >= options.repeat_share,
        }
        if "check-traits" in person.answers:
            passed["traits"] = _sides_right(study, person.answers)
        return passed

    def judged(self, study: Study, person: Person) -> Iterable[tuple[str, float]]:
        for row in ratings(study, person):
            yield f"{row['group']}/{row['trait']}", row["rating"]

    def start(self, folder: Path, source: Source) -> None:
        shutil.copyfile(data_file("traits.csv"), folder / "traits.csv")
        _write_groups(folder / "groups.csv")


SURVEY = Survey()


def repeated(person: Person) -> str:
    """The group that is rated again: any but the last, by lot."""
    return person.lot("repeat").choice(person.units[:-1] or person.units)


def _write_groups(path: Path) -> None:
    rows = {row["name"]: row for _, row in read_table(data_file("groups.csv"), ["plural"])}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "label", "domain"])
        writer.writerows((name, rows[name]["plural"], rows[name]["domain"]) for name in RATED)


# -------------------------------------------------------------------------------------------- pages


def _label(study: Study, person: Person, group: str) -> str:
    label = study.cached(read_groups)[group]
    return study.texts(person.language).name(label)


def _poles(study: Study, person: Person, trait: Trait) -> tuple[str, str]:
    texts = study.texts(person.language)
    return texts.name(trait.left), texts.name(trait.right)


def _society(study: Study, person: Person) -> str:
    return study.texts(person.language).name(study.options(Options).society)


def _rating(study: Study, person: Person, key: str, group: str) -> Page:
    scales = [
        Scale(f"t{at}", *_poles(study, person, trait))
        for at, trait in enumerate(study.cached(read_traits))
    ]
    number = len(person.units) + 1 if key == "rate-again" else int(key.removeprefix("rate-"))
    shown = {
        "group": _label(study, person, group),
        "society": _society(study, person),
        "number": number,
        "of": len(person.units) + 1,
    }
    return Page(key, "rate.html", Form(scales), group, shown)


def _name_check(study: Study, person: Person, group: str) -> Page:
    label = study.texts(person.language).word("check_name")
    if study.options(Options).name_check == "text":
        return Page("check-name", "questions.html", Form([Text("name", label, 80)]))
    others = [name for name in study.cached(read_groups) if name != group]
    lot = person.lot("name")
    four = [group, *lot.sample(others, min(3, len(others)))]
    lot.shuffle(four)
    options = tuple((name, _label(study, person, name)) for name in four)
    return Page("check-name", "questions.html", Form([Choice("name", label, options)]))


def _trait_check(study: Study, person: Person, group: str) -> Page:
    texts = study.texts(person.language)
    traits = study.cached(read_traits)
    poles = [_poles(study, person, trait) for trait in traits]
    names = [(f"t{at}", f"{left} – {right}") for at, (left, right) in enumerate(poles)]
    options = (*names, (NOTHING, texts.word("check_no_trait")))
    fields = [
        Choice(side, texts.word(f"check_{side}"), options, listed=True) for side in ("high", "low")
    ]
    shown = {"about": _label(study, person, group)}
    return Page("check-traits", "questions.html", Form(fields), None, shown)


# ------------------------------------------------------------------------------------------- checks


def _named(study: Study, options: Options, person: Person) -> bool:
    group, sent = person.units[0], person.answers["check-name"]["name"]
    if options.name_check == "choice":
        return bool(sent == group)
    away = {name: _away(study, person, name, sent) for name in study.cached(read_groups)}
    return away[group] <= options.name_distance and away[group] == min(away.values())


def _away(study: Study, person: Person, group: str, sent: str) -> int:
    """Edits between what was typed and the nearest name of a group: "women" is not "men"."""
    texts, label = study.texts(person.language), study.cached(read_groups)[group]
    names = {group, label, texts.name(label), *texts.other_names(label)}
    words = [_plain(word) for word in texts.left_out]
    forms = {form for name in names for form in _forms(_plain(name), words)}
    return min(OSA.distance(_plain(sent), form) for form in forms)


def _plain(text: str) -> str:
    return " ".join("".join(sign if sign.isalnum() else " " for sign in text.casefold()).split())


def _forms(name: str, left_out: Sequence[str]) -> set[str]:
    """A name without what people leave out of it: the word for people, and the plural."""
    bare = " ".join(part for part in name.split() if part not in left_out) or name
    return {
        name,
        bare,
        f"{bare}s",
        bare.removesuffix("s"),
        *(f"{bare} {word}" for word in left_out),
    }


def _sides_right(study: Study, answers: Answers) -> bool:
    ratings, said = answers["rate-2"], answers["check-traits"]
    high = _on_side(said["high"], {name for name, value in ratings.items() if value > MIDDLE})
    low = _on_side(said["low"], {name for name, value in ratings.items() if value < MIDDLE})
    return high and low


def _on_side(trait: str, rated: set[str]) -> bool:
    return not rated if trait == NOTHING else trait in rated


def _alike(study: Study, options: Options, person: Person) -> float:
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


def ratings(study: Study, person: Person) -> list[dict[str, Any]]:
    """One row a group and trait, of the first time a group was rated."""
    traits = study.cached(read_traits)
    return [
        {"group": group, "trait": trait.name, "rating": person.answers[f"rate-{at}"][f"t{number}"]}
        for at, group in enumerate(person.units, 1)
        for number, trait in enumerate(traits)
        if f"rate-{at}" in person.answers
    ]
