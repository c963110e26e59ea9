"""Published tables and their values, as the package ships them."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from stereometer.types import Published, Slice

FILES = ("stereoset", "crows-pairs", "abc", "gpt-3", "bias-bench")
PAPER = "paper"
"""The variant that all of them are: what their authors computed."""


@dataclass(frozen=True)
class Table:
    """Where values were printed, and of what."""

    id: str
    benchmark: str
    paper: str
    place: str
    split: str
    method: str
    page: str = ""
    data: str = ""
    """Digest of the items; empty where no benchmark holds them, or where the measure is another."""
    note: str = ""

    @property
    def source(self) -> str:
        page = f", p. {self.page}" if self.page else ""
        return f"{self.paper}, {self.place}{page}"


@dataclass(frozen=True)
class Value:
    """A number in a table."""

    table: Table
    system: str
    measure: str
    """Our name of the measure; empty where we have none that is the same."""
    name: str
    slice: Slice
    value: float
    n: int | None
    """Items or answers that were asked, where the source says it."""
    requires: Slice
    """Settings that a result must have been measured with."""
    digits: int
    """Decimals that were printed."""
    note: str = ""

    @property
    def published(self) -> Published:
        return Published(self.value, self.table.source)


def data_text(name: str) -> str:
    return resources.files(__package__).joinpath("data", name).read_text("utf-8")


@cache
def tables() -> dict[str, Table]:
    entries = tomllib.loads(data_text("tables.toml"))
    return {name: Table(id=name, **fields) for name, fields in entries.items()}


@cache
def values() -> tuple[Value, ...]:
    """All of them, in the order of their tables."""
    order = list(tables())
    every = (value for file in FILES for value in _read(file))
    return tuple(sorted(every, key=lambda value: order.index(value.table.id)))


def _read(file: str) -> Iterator[Value]:
    for row in csv.DictReader(data_text(f"{file}.csv").splitlines()):
        yield Value(
            tables()[row["table"]],
            row["system"],
            row["measure"],
            row["name"],
            _pairs(row["slice"]),
            float(row["value"]),
            int(row["n"]) if row["n"] else None,
            _pairs(row["requires"]),
            len(row["value"].partition(".")[2]),
            row["note"],
        )


def _pairs(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split(";") if part)
