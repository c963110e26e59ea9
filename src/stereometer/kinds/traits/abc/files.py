"""The tables: groups, traits between two poles, and which groups do not combine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Protocol, TypeVar

from stereometer.core.errors import DataError, UnknownName, did_you_mean
from stereometer.core.shapes.sentences import plain_name
from stereometer.core.tables import empty_file, read_table


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


class Named(Protocol):
    @property
    def name(self) -> str: ...


Entry = TypeVar("Entry", bound=Named)


class Row:
    """One line of a table, which it names in every error."""

    def __init__(self, path: Path, line: int, fields: dict[str, str]) -> None:
        self.where = f"{path}, line {line}"
        self.fields = fields

    def text(self, column: str) -> str:
        value = " ".join(self.fields[column].split())
        if not value:
            raise self.wrong(f"{column} is empty", "It must be a text")
        return value

    def maybe(self, column: str) -> str:
        return " ".join(self.fields.get(column, "").split())

    def listed(self, column: str) -> tuple[str, ...]:
        """The parts of a field between semicolons; a column that is not there is an empty list."""
        parts = (" ".join(part.split()) for part in self.fields.get(column, "").split(";"))
        return tuple(part for part in parts if part)

    def one_of(self, column: str, known: Sequence[str]) -> str:
        value = self.text(column)
        if value not in known:
            raise self.wrong(f"{column} is {value!r}", f"It must be {' or '.join(known)}")
        return value

    def wrong(self, what: str, why: str) -> DataError:
        return DataError(f"{self.where}: {what}. {why}. Fix the row.")


def read(path: Path, required: Sequence[str], make: Callable[[Row], Entry]) -> tuple[Entry, ...]:
    """Every row of a table as what it stands for; a name may stand there once."""
    entries: dict[str, Entry] = {}
    for line, fields in read_table(path, required):
        row = Row(path, line, fields)
        entry = make(row)
        if entry.name in entries:
            raise row.wrong(f"{entry.name!r} is there twice", "A name stands for one thing")
        entries[entry.name] = entry
    if not entries:
        raise empty_file(path)
    return tuple(entries.values())


def chosen(
    kind: str,
    entries: Sequence[Entry],
    wanted: Iterable[str],
    kinds: Callable[[Entry], Iterable[str]],
) -> tuple[Entry, ...]:
    """Entries by their names or by the kinds they are of, in the order of the file."""
    names = list(wanted)
    known = {name for entry in entries for name in (entry.name, *kinds(entry))}
    for name in (name for name in names if name not in known):
        raise UnknownName(kind, name, known, "`stereometer show abc` lists all of them.")
    if not names:
        return tuple(entries)
    return tuple(entry for entry in entries if {entry.name, *kinds(entry)} & {*names})


POLES = ("left", "right")


@dataclass(frozen=True)
class Trait:
    """A pair of poles; a rating of 100 and a positive score are at the right one."""

    name: str
    dimension: str
    left: str
    right: str
    left_synonyms: tuple[str, ...] = ()
    right_synonyms: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    released: tuple[tuple[str, str], ...] = ()
    """Adjectives that the authors' released lists spell in another way, and how."""

    @property
    def slices(self) -> dict[str, str]:
        return {"trait": self.name, "dimension": self.dimension}

    def head(self, pole: str) -> str:
        return self.left if pole == "left" else self.right

    def adjectives(self, pole: str) -> tuple[str, ...]:
        """The head adjective, then its synonyms."""
        return (self.head(pole), *(self.left_synonyms if pole == "left" else self.right_synonyms))

    def as_released(self) -> Trait:
        """The trait as the authors' released lists spell it."""
        spelling = dict(self.released)
        (left, *lefts), (right, *rights) = (
            [spelling.get(word, word) for word in self.adjectives(pole)] for pole in POLES
        )
        poles = replace(self, left=left, right=right)
        return replace(poles, left_synonyms=tuple(lefts), right_synonyms=tuple(rights))

    def alone(self) -> Trait:
        """The trait without synonyms."""
        return replace(self, left_synonyms=(), right_synonyms=())


def read_traits(path: Path) -> tuple[Trait, ...]:
    return read(path, ("name", "dimension", "left", "right"), _trait)


def _trait(row: Row) -> Trait:
    left, right = row.text("left"), row.text("right")
    if left == right:
        raise row.wrong(f"both poles are {left!r}", "A trait has two different poles")
    lists = row.listed("left_synonyms"), row.listed("right_synonyms"), row.listed("also")
    spelling = (entry.partition("=") for entry in row.listed("released"))
    released = tuple((word.strip(), other.strip()) for word, _, other in spelling)
    return Trait(row.text("name"), row.text("dimension"), left, right, *lists, released)


GROUP_COLUMNS = ("name", "domain", "singular", "plural")
ARTICLES = ("a", "an")


@dataclass(frozen=True)
class SocialGroup:
    """A group as sentences name it."""

    name: str
    domain: str
    singular: str
    plural: str
    article: str
    """Of the singular: a or an."""
    first: str = ""
    """How it stands before another group (female, Asian); empty where it cannot."""
    also: tuple[str, ...] = ()
    """Other names, under which ratings may know it."""
    lists: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    """Of two groups joined, their names."""
    agrees: str = ""
    """What adjectives agree with, in languages where they do: `f`."""
    determiners: tuple[tuple[str, str], ...] = ()
    """By column of its table, in languages that have others than a and an."""

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that it goes by."""
        return (self.name, self.singular, self.plural, *self.also)

    def form(self, number: str) -> str:
        return self.singular if number == "singular" else self.plural

    def determiner(self, column: str) -> str:
        return dict(self.determiners).get(column, self.article)


PERSON = SocialGroup("person", "", "person", "people", "a")
"""Stands for an unnamed person: the prior of the released code."""


def read_groups(path: Path, determiners: Sequence[str] | None = None) -> tuple[SocialGroup, ...]:
    """Of another language where there are columns of its determiners, which may be none."""

    def group(row: Row) -> SocialGroup:
        name, domain, singular, plural = (row.text(column) for column in GROUP_COLUMNS)
        return SocialGroup(
            name,
            domain,
            singular,
            plural,
            row.one_of("article", ARTICLES) if determiners is None else "",
            row.maybe("first") if determiners is None else "",
            row.listed("also"),
            row.listed("lists"),
            agrees=row.maybe("agrees"),
            determiners=tuple((column, row.text(column)) for column in determiners or ()),
        )

    return read(
        path, (*GROUP_COLUMNS, *(["article"] if determiners is None else determiners)), group
    )


def choose_groups(groups: Sequence[SocialGroup], wanted: Iterable[str]) -> tuple[SocialGroup, ...]:
    """By any of their names, by domain or by list."""
    known = called(groups)
    return chosen(
        "group",
        groups,
        [known.get(plain_name(name), name) for name in wanted],
        lambda group: (group.domain, *group.lists),
    )


def called(groups: Iterable[SocialGroup]) -> dict[str, str]:
    """Groups and domains by all that they go by, written plainly."""
    every = list(groups)
    return {plain_name(name): group.name for group in every for name in group.names} | {
        plain_name(group.domain): group.domain for group in every
    }


# -------------------------------------------------------------------------------------------- pairs


@dataclass(frozen=True)
class Rules:
    """Which groups do not combine: pairs of names or domains, in either order."""

    barred: frozenset[frozenset[str]] = frozenset()

    def __or__(self, other: Rules) -> Rules:
        return Rules(self.barred | other.barred)

    def allow(self, first: SocialGroup, second: SocialGroup) -> bool:
        names = product((first.name, first.domain), (second.name, second.domain))
        return first.name != second.name and self.barred.isdisjoint(map(frozenset, names))


def read_rules(path: Path, groups: Sequence[SocialGroup]) -> Rules:
    """A table of `one, other`; both are groups or domains."""
    known = called(groups)
    barred = set()
    for line, fields in read_table(path, ("one", "other")):
        pair = [plain_name(fields[column]) for column in ("one", "other")]
        for column, name in zip(("one", "other"), pair, strict=True):
            if name not in known:
                raise DataError(
                    f"{path}, line {line}: {fields[column]!r} is neither a group nor a domain. "
                    f"{did_you_mean(name, known) or 'A rule names two of those.'} Fix the row."
                )
        barred.add(frozenset(known[name] for name in pair))
    if not barred:
        raise DataError(
            f"{path} has no rules. An empty table rules nothing out. Check that it is the right "
            "file, or leave out --rules."
        )
    return Rules(frozenset(barred))


def pairs(groups: Sequence[SocialGroup], rules: Rules) -> Iterator[SocialGroup]:
    """All ordered pairs that make sense and that grammar allows; shared forms are kept once."""
    seen: set[str] = set()
    single = {group.name for group in groups}
    for first, second in product(groups, groups):
        joined = pair(first, second) if first.first and rules.allow(first, second) else None
        if joined is not None and joined.name not in seen:
            if joined.name in single:
                raise DataError(
                    f"'{joined.name}' is a group, and also what {' before '.join(joined.parts)} is "
                    "called. One name cannot stand for both. Rename the group or leave it out, or "
                    "rule the pair out with --rules."
                )
            seen.add(joined.name)
            yield joined


def pair(first: SocialGroup, second: SocialGroup) -> SocialGroup:
    """The first as an adjective before the second: female + doctor, Asian + woman."""
    singular = f"{first.first} {second.singular}"
    plural, domain = f"{first.first} {second.plural}", f"{first.domain} + {second.domain}"
    parts = first.name, second.name
    return SocialGroup(singular, domain, singular, plural, _article(first), parts=parts)


def _article(group: SocialGroup) -> str:
    """Before its adjective: the table's where the singular begins with it, else by its letters."""
    if group.singular.startswith(group.first):
        return group.article
    adjective = group.first.lower()
    vowel = adjective[0] in "aeiou" and not adjective.startswith(("eu", "uni", "one"))
    return "an" if vowel else "a"
