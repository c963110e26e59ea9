"""Published tables and their values, as the package ships them."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from stereometer.core.types import Estimate, Published, Slice, Variant, digest_of_file
from stereometer.core.types.names import MeasureName

FILES = ("stereoset", "crows-pairs", "abc", "gpt-3", "bias-bench")
PAPER = "paper"
"""The variant that all of them are: what their authors computed."""


@dataclass(frozen=True)
class PublishedTable:
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

    table: PublishedTable
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
def tables() -> dict[str, PublishedTable]:
    entries = tomllib.loads(data_text("tables.toml"))
    return {name: PublishedTable(id=name, **fields) for name, fields in entries.items()}


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


WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Alias:
    """What one system goes by."""

    names: tuple[str, ...]
    bytes: int = 0
    sha256: str = ""


@cache
def aliases() -> dict[str, Alias]:
    entries = tomllib.loads(data_text("models.toml"))
    return {system: Alias(tuple(entry.pop("names")), **entry) for system, entry in entries.items()}


def system_of(model: str) -> str | None:
    """A folder is known by its weights alone: whatever it is called, they may be others."""
    if Path(model).is_dir():
        return _by_weights(Path(model) / WEIGHTS)
    return next((system for system, alias in aliases().items() if model in alias.names), None)


def _by_weights(file: Path) -> str | None:
    """Files of another size are not read."""
    size = file.stat().st_size if file.is_file() else 0
    for system, alias in aliases().items():
        if size and alias.bytes == size and digest_of_file(file) == alias.sha256:
            return system
    return None


REPLAYED = {"cat-replay": "cat-likelihood", "pair-replay": "pair-likelihood"}
"""Scores whose measure nobody named are held against those of the paper."""
Key = tuple[str, str, str]
"""Data, system and measure."""


@dataclass(frozen=True)
class Conditions:
    """What must agree."""

    data: str
    """Digest of the items."""
    model: str
    measure: str
    variant: Variant
    settings: Mapping[str, Any] = field(default_factory=dict)
    claimed: bool = False
    """Whether only the user says what the items are: then the number asked must be known, too."""


@cache
def _known() -> dict[Key, list[Value]]:
    by_key: dict[Key, list[Value]] = {}
    for value in values():
        if value.table.data and value.measure:
            key = (value.table.data, value.system, value.measure)
            by_key.setdefault(key, []).append(value)
    return by_key


def with_published(
    estimates: Iterable[Estimate],
    measured: Conditions,
    place: Callable[[Slice], Slice] = lambda slice_: slice_,
) -> list[Estimate]:
    """The estimates with published values where there are any; `place` gives the slice as tables
    name it."""
    candidates = _candidates(measured)

    def beside(estimate: Estimate) -> Estimate:
        there = estimate.name, dict(place(estimate.slice))
        for value in candidates:
            counted = value.n == estimate.asked or (value.n is None and not measured.claimed)
            if counted and (value.name, dict(value.slice)) == there:
                return replace(estimate, published=value.published)
        return estimate

    return [beside(estimate) for estimate in estimates]


def _candidates(measured: Conditions) -> list[Value]:
    """Values of the same data, model, method and settings."""
    measure = MeasureName.parse(measured.measure)
    if measure.settings or measured.variant != PAPER:  # another number, which no paper printed
        return []
    if not any(data == measured.data for data, _, _ in _known()):
        return []
    name, system = measure.known_as, system_of(measured.model) or ""
    return [
        value
        for key in dict.fromkeys((name, REPLAYED.get(name, name)))
        for value in _known().get((measured.data, system, key), ())
        if _has_settings(value, measured)
    ]


def _has_settings(value: Value, measured: Conditions) -> bool:
    """Of answers from elsewhere not every setting is known."""
    for name, required in value.requires.items():
        setting = measured.settings.get(name)
        found = " ".join(sorted(setting)) if isinstance(setting, list | tuple) else str(setting)
        if found != required and (name in measured.settings or not measured.claimed):
            return False
    return True
