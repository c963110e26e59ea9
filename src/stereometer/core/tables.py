"""Tables: rows of CSV, TSV, JSON lines, a JSON list or Parquet, under the names that we know."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from stereometer.core.errors import DataError, UsageError, did_you_mean
from stereometer.core.files import UTF8, begins_with, read_jsonl, read_lines, read_list, replacing

SHOWN_FAULTS = 20
"""Rows that an error names; it counts the others."""
csv.field_size_limit(16 * 1024 * 1024)


@dataclass(frozen=True)
class Layout:
    """How a file is written: its encoding, and what it calls the columns that we know."""

    encoding: str = UTF8
    columns: Mapping[str, str] = field(default_factory=dict)
    """By our name, the file's."""
    separator: str = ""
    """Of a table; found by itself where it is empty."""

    def __post_init__(self) -> None:
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise UsageError(
                f"There is no encoding '{self.encoding}'. Use a name that Python knows, such as "
                "utf-8, latin-1, cp1252 or mac-roman. Check the spelling."
            ) from None

    def check(self, known: Sequence[str], what: str) -> None:
        """Raises where --column names what such a file does not have."""
        for name in [name for name in self.columns if name not in known]:
            hint = did_you_mean(name, {each: each for each in known})
            raise UsageError(
                f"--column names '{name}'. {what} has {', '.join(known) or 'no columns'}. "
                f"{hint or 'Correct it, or leave it out.'}"
            )

    def names(self, header: Sequence[str], known: Iterable[str], path: Path) -> list[str]:
        """A header under our names: as the layout says, otherwise in any case, spaces aside."""
        bare = [name.strip().lower() for name in header]
        ours = {name.strip().lower(): our for our, name in self.columns.items()}
        absent = [name for name in self.columns.values() if name.strip().lower() not in bare]
        if absent:
            raise DataError(
                f"{path} has no column {absent[0]!r}. Its columns are {_listed(header)}. Name one "
                "of them with --column."
            )
        ours = {name.lower(): name for name in known if name not in header} | ours
        return [
            ours.get(plain) or (f"{name} (own)" if name in self.columns else name)
            for name, plain in zip(header, bare, strict=True)
        ]


PLAIN = Layout()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, islice(names, 60)))[:300]


def is_parquet(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return file.read(4) == b"PAR1"
    return False


def parquet_rows(path: Path, _: str = UTF8) -> Iterable[tuple[int, dict[str, Any]]]:
    """Number and values of each row of a table as hubs keep it."""
    try:
        from pyarrow import parquet

        return enumerate(parquet.read_table(path).to_pylist(), 1)
    except ImportError:
        why, mend = "reading it takes pyarrow", "Install the optional part `parquet` of the package"
    except (OSError, ValueError) as error:  # what pyarrow raises are such errors too
        why, mend = str(error), "Fetch it again"
    raise DataError(f"The Parquet file {path} cannot be read: {why}. {mend}, or save it as CSV.")


Objects = Callable[[Path, str], Iterable[tuple[int, dict[str, Any]]]]
OBJECTS: Mapping[str, Objects] = {"": parquet_rows, "{": read_jsonl, "[": read_list}
"""What reads a file that begins so; nothing stands for Parquet."""


def empty_file(path: Path) -> DataError:
    return DataError(
        f"{path} has no rows. There is nothing to measure in it. Check that it is the right file."
    )


class BadRows(DataError):
    """Every row of a file that cannot be used, in one message."""

    def __init__(self, path: Path, faults: list[str]) -> None:
        self.faults = faults
        shown = [f"- {fault.removeprefix(f'{path}, ')[:400]}" for fault in faults[:SHOWN_FAULTS]]
        more = len(faults) - len(shown)
        head = f"{path} has {len(faults)} rows that cannot be used. Fix or leave them out."
        several = "\n".join([head, *shown, *([f"... and {more} more."] if more else [])])
        super().__init__(several if faults[1:] else faults[0])


Entry = TypeVar("Entry")
Raw = TypeVar("Raw")


def gathered(
    path: Path, rows: Iterable[tuple[int, Raw]], read: Callable[[int, Raw], Entry]
) -> list[Entry]:
    """What every row stands for; raises once, with all that is wrong with any of them."""
    entries, faults = [], []
    try:
        for line, row in rows:
            try:
                entries.append(read(line, row))
            except DataError as error:
                faults.append(str(error))
    except BadRows as error:
        faults += error.faults
    if faults:
        raise BadRows(path, faults)
    return entries


def read_rows(
    path: Path,
    required: Iterable[str],
    mend: str,
    layout: Layout = PLAIN,
    known: Iterable[str] = (),
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a table, of JSON lines, or of a JSON list or Parquet file, whose entries are
    counted; `mend` says what to do where a required field is missing."""
    wanted, names = list(required), {*required, *known}
    begins = "" if is_parquet(path) else begins_with(path, layout.encoding)
    if begins not in OBJECTS:
        yield from read_table(path, wanted, mend, layout, names)
        return
    for line, values in OBJECTS[begins](path, layout.encoding):
        row = values
        if layout.columns or not names >= values.keys():
            row = dict(zip(layout.names([*values], names, path), values.values(), strict=True))
        missing = [name for name in wanted if name not in row]
        if missing:
            raise DataError(
                f"{path}, line {line} has no {', '.join(missing)}. Its fields are "
                f"{_listed(values)}. {mend}"
            )
        yield line, row


def read_table(
    path: Path,
    required: Iterable[str],
    mend: str = "Rename or export it again.",
    layout: Layout = PLAIN,
    known: Iterable[str] = (),
) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields of each row; commas, semicolons or tabs separate them.

    Headers may be written in any case where they are required or `known`.
    """
    wanted, lines = list(required), read_lines(path, layout.encoding, newline="")
    if is_parquet(path):
        for line, values in read_rows(path, wanted, mend, layout, known):
            yield line, {name: "" if of is None else str(of) for name, of in values.items()}
        return
    # How many blank lines come first, and the line after them.
    blank, first = next((at, line) for at, line in enumerate(lines) if line.strip())
    reader = csv.reader(
        chain([first], lines),
        delimiter=layout.separator or max(",;\t", key=first.count),
        strict=True,
    )
    faults = []
    try:
        header = layout.names(next(reader), [*known, *wanted], path)
        _check_header(path, header, wanted, mend)
        for row in reader:
            line = blank + reader.line_num
            if len(row) == len(header):
                yield line, dict(zip(header, row, strict=True))
            elif row:
                faults.append(
                    f"{path}, line {line} does not have {len(header)} fields. It is cut off or "
                    "badly quoted. Fix it."
                )
    except csv.Error as error:
        faults.append(
            f"{path}, line {blank + reader.line_num}: {error}. It is cut off or badly quoted. "
            "Fix it."
        )
    if faults:
        raise BadRows(path, faults)


def _check_header(path: Path, header: list[str], required: Iterable[str], mend: str) -> None:
    counts = Counter(header)
    missing = [name for name in required if name not in counts]
    if missing:
        raise DataError(
            f"{path} has no column {', '.join(missing)}. Its columns are {_listed(header)}. {mend}"
        )
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise DataError(
            f"{path} has the column {twice!r} twice. It is not clear which is meant. Rename or "
            "leave out one."
        )


def write_csv(path: Path, rows: Iterable[Iterable[Any]]) -> Path:
    """A header and what stands under it, whole or not at all."""
    with replacing(path) as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path
