"""Rows of the data files: fields that must be there, lists in a field, names that must be known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from stereometer.errors import DataError, UnknownName
from stereometer.tables import empty_file, read_table


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
    names = list(dict.fromkeys(wanted))
    known = {name for entry in entries for name in (entry.name, *kinds(entry))}
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known, "`stereometer show abc` lists all of them.")
    return tuple(
        entry for entry in entries if not names or {entry.name, *kinds(entry)} & set(names)
    )
