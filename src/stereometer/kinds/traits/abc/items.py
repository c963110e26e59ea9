"""The items: every template, group and trait of the files, with the two poles as candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path

from stereometer.core.benchmarks.benchmark import Benchmark, Shapes, Source
from stereometer.core.errors import UsageError
from stereometer.core.types import ItemDefaults, Slice
from stereometer.kinds.traits.abc.files import (
    POLES,
    Rules,
    SocialGroup,
    Trait,
    choose_groups,
    counted,
    pairs,
    read_groups,
    read_rules,
    read_traits,
)
from stereometer.kinds.traits.abc.sentences import usages
from stereometer.kinds.traits.abc.templates import (
    ENGLISH,
    FilledTemplate,
    Grammar,
    Template,
    choose_templates,
    read_templates,
)

TRAIT_MEASURES = ("set", "causal-set", "ilps-star", "causal-ilps", "ilps")


@dataclass(frozen=True, eq=False)
class TraitWords:
    """All adjectives of a set of traits: what is asked together at a blank."""

    traits: tuple[Trait, ...]

    @cached_property
    def heads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(trait.head(pole) for trait in self.traits for pole in POLES))

    @cached_property
    def as_released(self) -> TraitWords:
        return TraitWords(tuple(trait.as_released() for trait in self.traits))

    @cached_property
    def everything(self) -> tuple[str, ...]:
        """Head adjectives and synonyms."""
        words = (trait.adjectives(pole) for trait in self.traits for pole in POLES)
        return tuple(dict.fromkeys(chain.from_iterable(words)))


@dataclass(frozen=True)
class TemplateFrame:
    """A template about a group, which an adjective completes."""

    template: Template
    group: SocialGroup
    grammar: Grammar = ENGLISH

    def sentence(self, adjective: str) -> FilledTemplate:
        return self.template.fill(self.group, adjective, self.grammar)

    def about_nobody(self) -> TemplateFrame:
        """The frame about a person, or people, of no group."""
        return replace(self, group=self.grammar.person(self.group))


@dataclass(frozen=True)
class TraitCell(ItemDefaults):
    """One template about one group, asked for the poles of one trait."""

    frame: TemplateFrame
    trait: Trait
    vocabulary: TraitWords = field(repr=False)

    @property
    def id(self) -> str:
        return f"{self.frame.template.name}/{self.frame.group.name}/{self.trait.name}"

    @property
    def slices(self) -> Slice:
        group, template = self.frame.group, self.frame.template.name
        places = {"group": group.name, "domain": group.domain, **self.trait.slices}
        return {**places, "template": template}

    @property
    def texts(self) -> Mapping[str, str]:
        return {pole: self.frame.sentence(self.trait.head(pole)).text for pole in POLES}

    @property
    def also_asked(self) -> dict[str, list[str]]:
        """The synonyms, which the texts do not show."""
        return {pole: words for pole in POLES if (words := list(self.trait.adjectives(pole)[1:]))}

    def as_released(self) -> TraitCell:
        """The cell as the authors' released lists spell it."""
        return replace(self, trait=self.trait.as_released(), vocabulary=self.vocabulary.as_released)

    @property
    def parts(self) -> tuple[tuple[str, str, str], ...]:
        """What is crossed in it: the list, its heading there, and its name."""
        group, template, trait = self.frame.group, self.frame.template, self.trait
        return (
            ("groups", group.domain, group.name),
            ("templates", template.kind, template.name),
            ("traits", trait.dimension, trait.name),
        )


def cells(
    groups: Sequence[SocialGroup],
    traits: Sequence[Trait],
    templates: Sequence[Template],
    grammar: Grammar = ENGLISH,
) -> list[TraitCell]:
    vocabulary = TraitWords(tuple(traits))
    frames = [TemplateFrame(*both, grammar) for both in product(templates, groups)]
    return [TraitCell(frame, trait, vocabulary) for frame, trait in product(frames, traits)]


# -------------------------------------------------------------------------------------------- files


def packaged() -> list[Path]:
    return [data_file(f"{name}.csv") for name in ("groups", "traits", "templates")]


def data_file(name: str) -> Path:
    return Path(__file__).parent / "data" / name


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    return Grid.of(*files).shapes, []


@dataclass(frozen=True)
class Grid:
    """What is crossed with what."""

    groups: tuple[SocialGroup, ...]
    traits: tuple[Trait, ...]
    templates: tuple[Template, ...]
    grammar: Grammar = ENGLISH

    @classmethod
    def of(cls, groups: Path, traits: Path, templates: Path) -> Grid:
        return cls(read_groups(groups), read_traits(traits), read_templates(templates))

    @property
    def shapes(self) -> Shapes:
        return {"trait": cells(self.groups, self.traits, self.templates, self.grammar)}

    def rules(self, own: Path | None = None) -> Rules:
        """The packaged rules and the user's; either may name groups that are not here."""
        ours = read_groups(data_file("groups.csv"))
        packaged = read_rules(data_file("pair_rules.csv"), ours)
        return packaged | read_rules(own, (*ours, *self.groups)) if own else packaged


# --------------------------------------------------------------------------------------- some of it


@dataclass(frozen=True)
class Choice:
    """The user's files, or some of the packaged groups, traits and templates by name or list."""

    groups: tuple[str, ...] = ()
    traits: Path | None = None
    templates: tuple[str, ...] = ()
    text: Path | None = None
    """Running text, for measures that read natural sentences."""
    seed: int = 0
    pairs: bool = False
    """Also every pair of the groups that makes sense."""
    rules: Path | None = None
    """A table of groups that do not combine, besides those in the packaged one."""
    synonyms: bool = True
    """Whether adjectives bring their synonyms; the paper's tables are of head adjectives alone."""


def grid(choice: Choice) -> Grid:
    own_groups, own_templates = _file(choice.groups), _file(choice.templates)
    groups = read_groups(own_groups or data_file("groups.csv"))
    templates = read_templates(own_templates or data_file("templates.csv"))
    traits = read_traits(choice.traits or data_file("traits.csv"))
    return Grid(
        groups if own_groups else choose_groups(groups, choice.groups),
        traits if choice.synonyms else tuple(trait.alone() for trait in traits),
        templates if own_templates else choose_templates(templates, choice.templates),
    )


TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods", ".sav")
"""Workbooks too, so that they are refused as what they are, not as unknown names."""


def _file(names: Sequence[str]) -> Path | None:
    """A single argument that looks like a table is a file."""
    tables = [name for name in names if name.endswith(TABLE_SUFFIXES)]
    if tables and len(names) > 1:
        other = next(name for name in names if name != tables[0])
        raise UsageError(
            f"{tables[0]} is a table, and {other} stands beside it. A table of your own and other "
            "names cannot be mixed. Give one table, or names."
        )
    return Path(tables[0]) if tables else None


def crossed(grid: Grid, rules: Path | None = None) -> tuple[SocialGroup, ...]:
    """Every pair of the groups that rules and grammar allow."""
    joined = tuple(pairs(grid.groups, grid.rules(rules)))
    if not joined:
        raise UsageError(
            "No two of the groups combine. A pair needs a group that can come first, and rules "
            "that allow it. Name more groups."
        )
    return joined


def chosen_benchmark(choice: Choice) -> Benchmark:
    """The items of a choice, which no card can vouch for: a note says what they are."""
    crossing = grid(choice)
    joined = crossed(crossing, choice.rules) if choice.pairs else ()
    note = _note(choice, crossing, len(joined))
    crossing = replace(crossing, groups=(*crossing.groups, *joined))
    files = (_file(choice.groups), choice.traits, _file(choice.templates), choice.text)
    benchmark = SOURCE.benchmark(
        crossing.shapes, ", ".join(str(file) for file in files if file) or "packaged", (note,)
    )
    benchmark = replace(benchmark, card=replace(SOURCE.card, digest=""))
    if choice.text is None:
        return benchmark
    shapes = {**benchmark.shapes, **usages(crossing, choice.text, choice.seed)}
    return replace(benchmark, shapes=shapes, measures={"sentences": ("ceat",)})


def _note(choice: Choice, crossing: Grid, joined: int) -> str:
    groups = counted(len(crossing.groups), "group")
    pairs = f", {counted(joined, 'ordered pair')} of them" if joined else ""
    traits = counted(len(crossing.traits), "trait")
    synonyms = "" if choice.synonyms else " without synonyms"
    templates = counted(len(crossing.templates), "template")
    text = f" (ceat: the sentences of {choice.text.name} instead)" if choice.text else ""
    return (
        f"{groups}{pairs}, {traits}{synonyms}, {templates}{text}, chosen from the packaged ones "
        "or the user's own."
    )


SOURCE = Source(
    "abc",
    read,
    {"trait": TRAIT_MEASURES},
    packaged,
    package="stereometer.kinds.traits",
    options=Choice,
    choose=chosen_benchmark,
    published=("set",),
    advice={
        "sentences": (
            "ceat needs running text, in which it finds sentences about groups. None was given. "
            "Name one: `stereometer run abc --measure ceat --text FILE`."
        ),
        "sentence-pairs": (
            "ceat-two-group needs running text, and two groups of one domain or just two groups. "
            "There is no such pair here. Give --text FILE, and name the groups with --groups."
        ),
    },
)
