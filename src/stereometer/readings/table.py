"""The table of admissible readings, `table.toml`, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from stereometer.types import Result, Variant, digest_of
from stereometer.types.document import typed
from stereometer.types.names import WITHIN_WORD, MeasureName


@dataclass(frozen=True)
class Way:
    """One way of asking a question: a measure in a variant, with its options."""

    method: str
    variant: Variant
    why: str
    length: str = ""
    """Whether log-probabilities are added up or averaged."""
    hides: str = ""
    """What is hidden while a token is scored."""
    within_word: bool = False

    @property
    def measure(self) -> str:
        """As results name it, without its version."""
        options = (WITHIN_WORD,) if self.within_word else ()
        return str(MeasureName.parse(self.method).plus(*options))

    @property
    def id(self) -> str:
        return f"{self.measure} {self.variant}"

    @property
    def choices(self) -> dict[str, str]:
        """What was chosen where another way of the same question may choose otherwise."""
        chosen = {"variant": str(self.variant), "length": self.length, "hides": self.hides}
        return {name: value for name, value in chosen.items() if value}


@dataclass(frozen=True)
class Question:
    """What readings that are tested together have in common."""

    id: str
    shape: str
    asks: str
    way: tuple[Way, ...] = ()


@dataclass(frozen=True)
class WayOption:
    """A choice that every way of asking has."""

    name: str
    why: str


@dataclass(frozen=True)
class LeftOut:
    """A measure that is not an admissible reading."""

    method: str
    why: str


@dataclass(frozen=True)
class ReadingTable:
    """All of it."""

    version: str
    question: tuple[Question, ...]
    averaging: tuple[WayOption, ...]
    items: tuple[WayOption, ...]
    left_out: tuple[LeftOut, ...] = ()

    def ways(self, shape: str) -> Iterator[tuple[Question, Way]]:
        """In the order of the table."""
        for question in self.question:
            if question.shape == shape:
                yield from ((question, way) for way in question.way)

    def of(self, result: Result) -> tuple[Question, Way]:
        """The way of asking that a stored run is of; a measure that the table does not have asks a
        question of its own."""
        method = result.measured_by.known_as
        within_word = WITHIN_WORD in result.measured_by.options
        for question, way in self.ways(result.kind):
            if (way.method, way.variant, way.within_word) == (method, result.variant, within_word):
                return question, way
        way = Way(method, result.variant, "It was named.", within_word=within_word)
        asks = f"What do the scores say? `{method}` is not in the table of readings."
        return Question(method, result.kind, asks, (way,)), way


def _written() -> dict[str, Any]:
    text = resources.files("stereometer.readings").joinpath("table.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def readings() -> ReadingTable:
    return typed(ReadingTable, _written())


@cache
def table_digest() -> str:
    return digest_of(_written())[:16]
