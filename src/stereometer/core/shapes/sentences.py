"""The words of a text, and names written without what spellings differ in."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from stereometer.core.errors import DataError
from stereometer.core.shapes.shape import Contrast
from stereometer.core.tables import PLAIN, Layout
from stereometer.core.types import Item

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def words_of(text: str) -> list[str]:
    """In lower case; digits and marks are no words."""
    return WORD.findall(text.lower().replace("’", "'"))


def plain_name(name: str) -> str:
    """Without case, and with a single space for white space, underscores, hyphens and slashes."""
    return re.sub(r"[\s_/–—-]+", " ", name.casefold()).strip()


Row = Mapping[str, Any]
"""A row of a table, or an object of JSON lines."""


class SentenceItem(Item, Protocol):
    """An item of this shape."""

    shape: ClassVar[str]

    @property
    def domain(self) -> str:
        """The domain of a CAT, the bias type of a pair."""

    @property
    def term(self) -> str:
        """The target term, which other items may share; empty where a pair has none."""

    @property
    def candidate_ids(self) -> Mapping[str, Sequence[str]]:
        """By candidate, the stereotype first, the ids that its score may be stored under."""

    @property
    def varied(self) -> Mapping[str, str]:
        """What differs between the candidates: fillers, continuations or sentences."""

    @property
    def written(self) -> Iterable[str]:
        """The words its writer chose, each place of them once."""

    @property
    def about(self) -> Sequence[str]:
        """The words that name the group the stereotype is about."""

    @property
    def instead(self) -> Sequence[str]:
        """The words that name another group in its place."""

    @property
    def articles(self) -> Iterator[tuple[str, str]]:
        """Words before what differs, where an article may stand, and what follows them."""

    @property
    def labels(self) -> Sequence[Sequence[Hashable]]:
        """What each validator said, by what was labelled."""

    @property
    def own_votes(self) -> tuple[int, int] | None:
        """How many validators gave the item's own label, of how many; the least agreed candidate
        counts."""

    def corrected(self, texts: Mapping[str, str]) -> SentenceItem:
        """With other texts; raises where they do not make an item."""


class SentenceShape(Contrast):
    """A shape of these items."""

    item: ClassVar[type[Any]]
    """What one is made of."""
    columns: ClassVar[tuple[str, ...]]
    """What a table of them needs."""
    suffix: ClassVar[str]
    """Of the files that `write` makes."""
    has_terms: ClassVar[bool] = False
    """Whether items share target terms, which vary together."""

    @abstractmethod
    def read_released(self, path: Path, layout: Layout = PLAIN) -> Sequence[SentenceItem]:
        """A file in the layout of the first set of this kind."""

    @abstractmethod
    def read_row(self, row: Row, path: Path, line: int, faulty: bool = False) -> SentenceItem:
        """An item from a row; `faulty` lets through what an audit reports and no method can
        measure."""

    @abstractmethod
    def write(self, path: Path, items: Sequence[Any], hidden: bool = False) -> Path:
        """A file that `stereometer run FILE` reads; `hidden` keeps its texts out of runs."""


# ----------------------------------------------------------------------------------- fields of rows


def row_id(row: Row, otherwise: object) -> str:
    """The `id`, else the unnamed first column."""
    return next(
        (str(row[name]) for name in ("id", "") if row.get(name) not in (None, "")), str(otherwise)
    )


def row_text(row: Row, column: str, path: Path, line: int, faulty: bool = False) -> str:
    value = row.get(column)
    if faulty and (value is None or (isinstance(value, str) and not value.strip())):
        return ""
    if not isinstance(value, str) or not value.strip():
        raise DataError(
            f"{path}, line {line}: {column} is {value!r}. It must be a text that is not empty. "
            "Fix the row."
        )
    return value


def row_choice(row: Row, column: str, known: Sequence[str], path: Path, line: int) -> str | None:
    """One of the known values, or None where the field is empty."""
    value = row.get(column) or None
    if value not in (None, *known):
        raise DataError(
            f"{path}, line {line}: {column} is {value!r}. It must be one of {', '.join(known)} "
            "or empty. Fix the row."
        )
    return value


def row_hidden(row: Row, path: Path, line: int) -> bool:
    """Whether an item is held back."""
    value = str(row.get("hidden") or "no").lower()
    if value not in ("yes", "no", "true", "false"):
        raise DataError(
            f"{path}, line {line}: hidden is {row.get('hidden')!r}. It must be yes, no or empty. "
            "Fix the row."
        )
    return value in ("yes", "true")


def unique(ids: Iterable[str], noun: str) -> None:
    """Raises where an id stands twice: a join by id would silently take one of the two."""
    seen: set[str] = set()
    for id_ in ids:
        if id_ in seen:
            raise DataError(
                f"{noun} id {id_!r} occurs twice. Scores are joined by id. Give every item its own."
            )
        seen.add(id_)


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
