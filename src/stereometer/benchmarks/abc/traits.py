"""Traits: two poles, each with a head adjective and synonyms, in one of three dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from stereometer.benchmarks.abc.rows import Row, read

COLUMNS = ("name", "dimension", "left", "right")
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

    def head(self, pole: str) -> str:
        return self.left if pole == "left" else self.right

    def adjectives(self, pole: str) -> tuple[str, ...]:
        """The head adjective, then its synonyms."""
        return (self.head(pole), *(self.left_synonyms if pole == "left" else self.right_synonyms))

    def alone(self) -> Trait:
        """The same without synonyms."""
        return replace(self, left_synonyms=(), right_synonyms=())


def read_traits(path: Path) -> tuple[Trait, ...]:
    return read(path, COLUMNS, _trait)


def _trait(row: Row) -> Trait:
    left, right = row.text("left"), row.text("right")
    if left == right:
        raise row.wrong(f"both poles are {left!r}", "A trait has two different poles")
    synonyms = row.listed("left_synonyms"), row.listed("right_synonyms")
    return Trait(
        row.text("name"), row.text("dimension"), left, right, *synonyms, row.listed("also")
    )
