"""The survey of the ABC study as a set of scales: groups that are rated between two poles."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stereometer.benchmarks.abc.groups import choose_groups, read_groups
from stereometer.benchmarks.abc.items import data_file
from stereometer.benchmarks.abc.traits import Trait, read_traits
from stereometer.benchmarks.benchmark import Benchmark, Shapes, Source
from stereometer.errors import DataError
from stereometer.files import read_text
from stereometer.tables import read_table
from stereometer.types import ItemDefaults, Slice

RATED = (
    "man", "woman", "non-binary", "trans", "cis", "Black", "White", "Hispanic", "Asian",
    "Native American", "Jewish", "Muslim", "Christian", "Buddhist", "Mormon", "wealthy",
    "working class", "immigrant", "veteran", "unemployed", "teenager", "elderly", "blind",
    "autistic", "neurodivergent",
)  # fmt: skip
"""The 25 groups that the paper's participants rated (Cao et al. 2022, section 4)."""
SOCIETY = "American society"
SHAPE = "survey"


@dataclass(frozen=True)
class Named:
    """A group as the survey's pages name it."""

    name: str
    label: str
    domain: str


@dataclass(frozen=True)
class Scale(ItemDefaults):
    """A group to be rated between the poles of a trait, as a society sees it."""

    group: Named
    trait: Trait
    society: str = SOCIETY

    @property
    def id(self) -> str:
        return f"{self.group.name}/{self.trait.name}"

    @property
    def slices(self) -> Slice:
        return {
            "group": self.group.name,
            "domain": self.group.domain,
            "trait": self.trait.name,
            "dimension": self.trait.dimension,
        }

    @property
    def texts(self) -> Mapping[str, str]:
        about = f"{self.group.label}, as {self.society} sees them"
        return {"about": about, "left": self.trait.left, "right": self.trait.right}

    @property
    def parts(self) -> tuple[tuple[str, str, str], ...]:
        """What is crossed in it: the list, its heading there, and its name."""
        return (
            ("groups", self.group.domain, self.group.name),
            ("traits", self.trait.dimension, self.trait.name),
        )


def scales(groups: Iterable[Named], traits: Sequence[Trait], society: str = SOCIETY) -> list[Scale]:
    return [Scale(group, trait.alone(), society) for group in groups for trait in traits]


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    groups, traits = files
    rated = [
        Named(group.name, group.plural, group.domain)
        for group in choose_groups(read_groups(groups), RATED)
    ]
    return {SHAPE: scales(rated, read_traits(traits))}, []


def packaged() -> list[Path]:
    return [data_file("groups.csv"), data_file("traits.csv")]


SOURCE = Source("survey", read, {SHAPE: ("survey",)}, packaged)


def is_study(folder: Path) -> bool:
    return (folder / "study.toml").is_file()


def of_study(folder: Path) -> Benchmark:
    """The survey of a study's folder."""
    path = folder / "study.toml"
    try:
        settings = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is not valid TOML: {error}. Mend that line.") from None
    if settings.get("kind") != SHAPE:
        raise DataError(
            f"{folder} is a {settings.get('kind')} study. A model can take part in a survey. "
            "Name the folder of a survey."
        )
    society = str(settings.get("survey", {}).get("society", SOCIETY))
    groups = [
        Named(row["name"], row.get("label") or row["name"], row.get("domain") or "")
        for _, row in read_table(folder / "groups.csv", ["name"])
    ]
    traits = [
        Trait(row["name"], row.get("dimension") or "", row["left"], row["right"])
        for _, row in read_table(folder / "traits.csv", ["name", "left", "right"])
    ]
    benchmark = SOURCE.benchmark({SHAPE: scales(groups, traits, society)}, str(folder))
    return replace(benchmark, card=replace(SOURCE.card, digest="", title=str(settings["title"])))
