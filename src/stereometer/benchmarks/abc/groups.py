"""Social groups: their forms, their domains, and which of them combine."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stereometer.benchmarks.abc.rows import Row, chosen, plain, read
from stereometer.errors import DataError, did_you_mean
from stereometer.files import read_table

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

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that it goes by."""
        return (self.name, self.singular, self.plural, *self.also)

    def form(self, number: str) -> str:
        return self.singular if number == "singular" else self.plural


PERSON = Group("person", "", "person", "people", "a")
"""Stands for nobody in particular: the prior of the released code."""


def read_groups(path: Path) -> tuple[Group, ...]:
    return read(path, COLUMNS, _group)


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
        [known.get(plain(name), name) for name in wanted],
        lambda group: (group.domain, *group.lists),
    )


def called(groups: Iterable[Group]) -> dict[str, str]:
    """Groups and domains by all that they go by, written plainly."""
    every = list(groups)
    return {plain(name): group.name for group in every for name in group.names} | {
        plain(group.domain): group.domain for group in every
    }


# ------------------------------------------------------------------------------------------------ pairs


@dataclass(frozen=True)
class Rules:
    """Which groups do not combine: pairs of names or domains, in either order."""

    barred: frozenset[frozenset[str]] = frozenset()

    def __or__(self, other: Rules) -> Rules:
        return Rules(self.barred | other.barred)

    def allow(self, one: Group, other: Group) -> bool:
        kinds = [
            frozenset((a, b)) for a in (one.name, one.domain) for b in (other.name, other.domain)
        ]
        return one.name != other.name and not any(kind in self.barred for kind in kinds)


def read_rules(path: Path, groups: Sequence[Group]) -> Rules:
    """A table of `one, other`; both are groups or domains."""
    known = called(groups)
    barred = set()
    for line, fields in read_table(path, ("one", "other")):
        pair = [plain(fields[column]) for column in ("one", "other")]
        for column, name in zip(("one", "other"), pair, strict=True):
            if name not in known:
                raise DataError(
                    f"{path}, line {line}: {fields[column]!r} is neither a group nor a domain. {did_you_mean(name, known) or 'A rule names two of those.'} Repair the row."
                )
        barred.add(frozenset(known[name] for name in pair))
    if not barred:
        raise DataError(
            f"{path} has no rules. A table without rows bars nothing. Check that it is the right file, or leave out --rules."
        )
    return Rules(frozenset(barred))


def pairs(groups: Sequence[Group], rules: Rules) -> Iterator[Group]:
    """All ordered pairs that make sense and that grammar allows; forms that two pairs share are kept once."""
    seen: set[str] = set()
    single = {group.name for group in groups}
    for one in groups:
        for other in groups:
            joined = pair(one, other) if one.first and rules.allow(one, other) else None
            if joined is not None and joined.name not in seen:
                _check_free(joined, single)
                seen.add(joined.name)
                yield joined


def _check_free(joined: Group, single: Container[str]) -> None:
    if joined.name in single:
        raise DataError(
            f"'{joined.name}' is a group, and also what {' before '.join(joined.parts)} is called. One name cannot stand for both. Rename the group or leave it out, or bar the pair with --rules."
        )


def pair(one: Group, other: Group) -> Group:
    """`one` as an adjective before `other`: female + doctor, Asian + woman."""
    singular = f"{one.first} {other.singular}"
    return Group(
        singular,
        f"{one.domain} + {other.domain}",
        singular,
        f"{one.first} {other.plural}",
        _article(one),
        parts=(one.name, other.name),
    )


def _article(one: Group) -> str:
    """Before the adjective: the table's where the singular begins with it (a Ukrainian person), else a guess by its letters."""
    if one.singular.startswith(one.first):
        return one.article
    return (
        "an"
        if one.first[0].lower() in "aeiou"
        and not one.first.lower().startswith(("eu", "uni", "one"))
        else "a"
    )
