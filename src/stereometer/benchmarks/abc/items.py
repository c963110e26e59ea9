"""The items: every template, group and trait of the files, one item each, with the two poles as candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from itertools import product
from pathlib import Path

from stereometer.benchmarks.abc.groups import PERSON, Group, Rules, choose_groups, read_groups, read_rules
from stereometer.benchmarks.abc.templates import Sentence, Template, choose_templates, read_templates
from stereometer.benchmarks.abc.traits import POLES, Trait, read_traits
from stereometer.benchmarks.benchmark import Shapes, Source
from stereometer.types import Slice

FILES = ("groups.csv", "traits.csv", "templates.csv")
TRAIT_MEASURES = ("set", "causal-set", "ilps-star", "causal-ilps", "ilps")


@dataclass(frozen=True)
class Vocabulary:
    """All adjectives of a set of traits: what is asked together at a blank."""

    traits: tuple[Trait, ...]

    @cached_property
    def heads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(trait.head(pole) for trait in self.traits for pole in POLES))

    @cached_property
    def everything(self) -> tuple[str, ...]:
        """Head adjectives and synonyms."""
        return tuple(dict.fromkeys(word for trait in self.traits for pole in POLES for word in trait.adjectives(pole)))


@dataclass(frozen=True)
class Cell:
    """One template about one group, asked for the poles of one trait."""

    template: Template
    group: Group
    trait: Trait
    vocabulary: Vocabulary = field(repr=False)

    @property
    def id(self) -> str:
        return f"{self.template.name}/{self.group.name}/{self.trait.name}"

    @property
    def slices(self) -> Slice:
        return {
            "group": self.group.name,
            "domain": self.group.domain,
            "trait": self.trait.name,
            "dimension": self.trait.dimension,
            "template": self.template.name,
        }

    @property
    def texts(self) -> Mapping[str, str]:
        return {pole: self.sentence(self.trait.head(pole)).text for pole in POLES}

    @property
    def ends_with_trait(self) -> bool:
        return self.template.ends_with_trait

    def sentence(self, adjective: str) -> Sentence:
        return self.template.fill(self.group, adjective)

    def about_nobody(self, adjective: str) -> Sentence:
        """The same of a person, or of people."""
        return self.template.fill(PERSON, adjective)

    def adjectives(self, pole: str) -> tuple[str, ...]:
        """The head adjective, then its synonyms."""
        return self.trait.adjectives(pole)


def cells(groups: Iterable[Group], traits: Sequence[Trait], templates: Sequence[Template]) -> list[Cell]:
    vocabulary = Vocabulary(tuple(traits))
    return [Cell(template, group, trait, vocabulary) for template, group, trait in product(templates, groups, traits)]


# ---------------------------------------------------------------------------------------------- files


def packaged() -> list[Path]:
    return [data_file(name) for name in FILES]


def data_file(name: str) -> Path:
    return Path(str(resources.files("stereometer.benchmarks.abc").joinpath("data", name)))


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    return Grid.of(*files).shapes, []


@dataclass(frozen=True)
class Grid:
    """What is crossed with what."""

    groups: tuple[Group, ...]
    traits: tuple[Trait, ...]
    templates: tuple[Template, ...]

    @classmethod
    def of(cls, groups: Path, traits: Path, templates: Path) -> Grid:
        return cls(read_groups(groups), read_traits(traits), read_templates(templates))

    @property
    def shapes(self) -> Shapes:
        return {"trait": cells(self.groups, self.traits, self.templates)}

    def rules(self) -> Rules:
        """The packaged rules, as far as they speak of groups that are here."""
        return read_rules(data_file("pair_rules.csv"), read_groups(data_file("groups.csv")))


def grid(groups: Sequence[str] = (), traits: Path | None = None, templates: Sequence[str] = ()) -> Grid:
    """A grid from files of one's own, or from names, domains, kinds and lists of the packaged ones."""
    own_groups, own_templates = _file(groups), _file(templates)
    all_groups = read_groups(own_groups or data_file("groups.csv"))
    all_templates = read_templates(own_templates or data_file("templates.csv"))
    return Grid(
        all_groups if own_groups else choose_groups(all_groups, groups),
        read_traits(traits or data_file("traits.csv")),
        all_templates if own_templates else choose_templates(all_templates, templates),
    )


TABLE_SUFFIXES = (".csv", ".tsv", ".txt")


def _file(given: Sequence[str]) -> Path | None:
    """A single argument that looks like a table is a file."""
    return Path(given[0]) if len(given) == 1 and given[0].endswith(TABLE_SUFFIXES) else None


SOURCE = Source("abc", read, {"trait": TRAIT_MEASURES}, packaged)
