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
    released: tuple[tuple[str, str], ...] = ()
    """Adjectives that the authors' released lists spell in another way, and how."""

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
        return replace(
            self, left=left, right=right, left_synonyms=tuple(lefts), right_synonyms=tuple(rights)
        )

    def alone(self) -> Trait:
        """The trait without synonyms."""
        return replace(self, left_synonyms=(), right_synonyms=())


def read_traits(path: Path) -> tuple[Trait, ...]:
    return read(path, COLUMNS, _trait)


def _trait(row: Row) -> Trait:
    left, right = row.text("left"), row.text("right")
    if left == right:
        raise row.wrong(f"both poles are {left!r}", "A trait has two different poles")
    synonyms = row.listed("left_synonyms"), row.listed("right_synonyms")
    spelling = (entry.partition("=") for entry in row.listed("released"))
    return Trait(
        row.text("name"),
        row.text("dimension"),
        left,
        right,
        *synonyms,
        row.listed("also"),
        tuple((word.strip(), other.strip()) for word, _, other in spelling),
    )
