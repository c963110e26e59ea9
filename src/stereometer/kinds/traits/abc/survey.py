"""The survey of the ABC study as a set of scales: groups that are rated between two poles."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stereometer.core.benchmarks.benchmark import Benchmark, Shapes, Source
from stereometer.core.errors import DataError
from stereometer.core.files import read_text
from stereometer.core.tables import read_table
from stereometer.core.types import ItemDefaults, Slice
from stereometer.kinds.traits.abc.files import Trait, choose_groups, read_groups, read_traits
from stereometer.kinds.traits.abc.items import data_file

RATED = (
    "man", "woman", "non-binary", "trans", "cis", "Black", "White", "Hispanic", "Asian",
    "Native American", "Jewish", "Muslim", "Christian", "Buddhist", "Mormon", "wealthy",
    "working class", "immigrant", "veteran", "unemployed", "teenager", "elderly", "blind",
    "autistic", "neurodivergent",
)  # fmt: skip
"""The 25 groups that the paper's participants rated (Cao et al. 2022, section 4)."""
SOCIETY = "American society"
SHAPE = "survey"
ENDS = ("left", "right")
WORDING = ("model_page", "model_scale", "model_cue")
"""Words of a study that a model reads, and people do not."""


@dataclass(frozen=True)
class RatedGroup:
    """A group as the survey's pages name it."""

    name: str
    label: str
    domain: str


@dataclass(frozen=True)
class Scale(ItemDefaults):
    """A group to be rated between the poles of a trait, as a society sees it."""

    group: RatedGroup
    trait: Trait
    society: str = SOCIETY
    wording: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a study calls the parts of a page that is put to a model; empty for ours."""

    @property
    def id(self) -> str:
        return f"{self.group.name}/{self.trait.name}"

    @property
    def slices(self) -> Slice:
        return {"group": self.group.name, "domain": self.group.domain, **self.trait.slices}

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


def scales(
    groups: Iterable[RatedGroup],
    traits: Sequence[Trait],
    society: str = SOCIETY,
    wording: Mapping[str, str] | None = None,
) -> list[Scale]:
    return [
        Scale(group, trait.alone(), society, wording or {}) for group in groups for trait in traits
    ]


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    groups, traits = files
    rated = [
        RatedGroup(group.name, group.plural, group.domain)
        for group in choose_groups(read_groups(groups), RATED)
    ]
    return {SHAPE: scales(rated, read_traits(traits))}, []


def packaged() -> list[Path]:
    return [data_file("groups.csv"), data_file("traits.csv")]


SOURCE = Source("survey", read, {SHAPE: ("survey",)}, packaged, package="stereometer.kinds.traits")


def of_study(folder: Path) -> Benchmark:
    """The survey of a study's folder: its groups, in the words of its first language."""
    settings = _toml(folder / "study.toml")
    if settings.get("kind") != SHAPE:
        raise DataError(
            f"{folder} is a {settings.get('kind')} study. A model can take part in a survey. "
            "Name the folder of a survey."
        )
    survey, language = settings.get("survey", {}), (settings.get("languages") or ["en"])[0]
    words = _toml(folder / "texts" / str(language) / "words.toml")
    # A soft hyphen says where a name may be broken on a page; to a model it is a letter.
    called = {str(name): str(of) for name, of in words.get("names", {}).items()}
    names = {name: of.replace("\u00ad", "") for name, of in called.items()}
    society = str(survey.get("society", SOCIETY))
    groups = _rated(folder / "groups.csv", survey.get("groups") or (), names)
    traits = []
    for _, row in read_table(folder / "traits.csv", ["name", *ENDS]):
        left, right = (names.get(row[end], row[end]) for end in ENDS)
        traits.append(Trait(row["name"], row.get("dimension") or "", left, right))
    wording = {part: str(words[part]) for part in WORDING if part in words}
    rated = scales(groups, traits, names.get(society, society), wording)
    benchmark = SOURCE.benchmark({SHAPE: rated}, str(folder))
    card = replace(SOURCE.card, digest="", title=str(settings["title"]))
    return replace(benchmark, card=card, defaults={"own": wording})


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(read_text(path)) if path.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is not valid TOML: {error}. Fix that line.") from None


def _rated(path: Path, wanted: Sequence[str], names: Mapping[str, str]) -> list[RatedGroup]:
    """The groups that the study's people rate."""
    return [
        RatedGroup(row["name"], names.get(label, label), row.get("domain") or "")
        for _, row in read_table(path, ["name"])
        for label in [row.get("label") or row["name"]]
        if not wanted or row["name"] in wanted
    ]
