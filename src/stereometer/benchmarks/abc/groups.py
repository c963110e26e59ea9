"""Social groups: their forms, their domains, and which of them combine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from stereometer.benchmarks.abc.rows import Row, chosen, read
from stereometer.errors import DataError, did_you_mean
from stereometer.shapes.sentences import plain_name
from stereometer.tables import read_table

COLUMNS = ("name", "domain", "singular", "plural", "article")
ARTICLES = ("a", "an")


@dataclass(frozen=True)
class Group:
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


PERSON = Group("person", "", "person", "people", "a")
"""Stands for an unnamed person: the prior of the released code."""


def read_groups(path: Path) -> tuple[Group, ...]:
    return read(path, COLUMNS, _group)


def read_foreign_groups(path: Path, determiners: Sequence[str]) -> tuple[Group, ...]:
    """Of another language, with the determiners that its templates use."""

    def group(row: Row) -> Group:
        return Group(
            row.text("name"),
            row.text("domain"),
            row.text("singular"),
            row.text("plural"),
            "",
            also=row.listed("also"),
            lists=row.listed("lists"),
            agrees=row.maybe("agrees"),
            determiners=tuple((column, row.text(column)) for column in determiners),
        )

    return read(path, (*COLUMNS[:4], *determiners), group)


def _group(row: Row) -> Group:
    return Group(
        row.text("name"),
        row.text("domain"),
        row.text("singular"),
        row.text("plural"),
        row.one_of("article", ARTICLES),
        row.maybe("first"),
        row.listed("also"),
        row.listed("lists"),
    )


def choose_groups(groups: Sequence[Group], wanted: Iterable[str]) -> tuple[Group, ...]:
    """By any of their names, by domain or by list."""
    known = called(groups)
    return chosen(
        "group",
        groups,
        [known.get(plain_name(name), name) for name in wanted],
        lambda group: (group.domain, *group.lists),
    )


def called(groups: Iterable[Group]) -> dict[str, str]:
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

    def allow(self, first: Group, second: Group) -> bool:
        names = product((first.name, first.domain), (second.name, second.domain))
        return first.name != second.name and self.barred.isdisjoint(map(frozenset, names))


def read_rules(path: Path, groups: Sequence[Group]) -> Rules:
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


def pairs(groups: Sequence[Group], rules: Rules) -> Iterator[Group]:
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


def pair(first: Group, second: Group) -> Group:
    """The first as an adjective before the second: female + doctor, Asian + woman."""
    singular = f"{first.first} {second.singular}"
    return Group(
        singular,
        f"{first.domain} + {second.domain}",
        singular,
        f"{first.first} {second.plural}",
        _article(first),
        parts=(first.name, second.name),
    )


def _article(group: Group) -> str:
    """Before its adjective: the table's where the singular begins with it, else by its letters."""
    if group.singular.startswith(group.first):
        return group.article
    adjective = group.first.lower()
    vowel = adjective[0] in "aeiou" and not adjective.startswith(("eu", "uni", "one"))
    return "an" if vowel else "a"
