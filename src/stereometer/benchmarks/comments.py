"""A user's own table of comments: a text column and either one column of labels or one column of scores a category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from stereometer.benchmarks.benchmark import Benchmark, load_card
from stereometer.errors import DataError, UsageError
from stereometer.files import read_rows, read_table
from stereometer.shapes.comment.items import Comment, folded, share

RENAMED = "Say what its columns hold, for instance --column comment=text."


@dataclass(frozen=True)
class Columns:
    """How a user's table is read."""

    text: str = "comment"
    label: str | None = "label"
    """The column of labels; None where categories have columns of scores."""
    categories: Sequence[str] = field(default_factory=tuple)
    """Labels or score columns that count as categories; by default every label but `neither`."""
    neither: str = "neither"
    """The label of a text that is of no category."""
    id: str | None = None


def read_own(path: Path, columns: Columns) -> Benchmark:
    """Any CSV, TSV or JSONL with a text and labels."""
    needed = [columns.text, *([columns.label] if columns.label else columns.categories)]
    rows = list(read_rows(path, needed, RENAMED))
    if not rows:
        raise DataError(
            f"{path} has no rows. There is nothing to ask about. Check that it is the right file."
        )
    spelt = {folded(name): name for name in (*columns.categories, columns.neither)}
    comments = [
        _own(row, number, columns, spelt, f"{path}, line {line}")
        for number, (line, row) in enumerate(rows, 1)
    ]
    ids = [comment.id for comment in comments]
    if len(set(ids)) < len(ids):
        raise DataError(
            f"{path} has the same id twice. Rows are told apart by it. Name another column, or none."
        )
    return Benchmark(load_card("comments"), {"comment": comments}, path.name)


def _own(
    row: Mapping[str, Any], number: int, columns: Columns, spelt: dict[str, str], where: str
) -> Comment:
    """`spelt` is how each label is written: as it was asked for, or where it first stands."""
    text = row[columns.text]
    if not isinstance(text, str) or not text.strip():
        raise DataError(
            f"{where}: the text is empty. There is nothing to ask about. Repair or leave out that row."
        )
    if columns.label is None:
        scores = {name: share(row[name], f"{where}: {name}") for name in columns.categories}
        return Comment(
            _id(row, columns, number), text, scores, number, max(scores.values(), default=0.0)
        )
    label = str(row[columns.label]).strip()
    if not label:
        raise DataError(
            f"{where}: the label is empty. A text of no category is called '{columns.neither}'. Repair that row."
        )
    label = spelt.setdefault(folded(label), label)
    scores = {} if label == columns.neither else {label: 1.0}
    return Comment(_id(row, columns, number), text, scores, number, float(bool(scores)))


def _id(row: Mapping[str, Any], columns: Columns, number: int) -> str:
    return (
        str(row[columns.id])
        if columns.id and row.get(columns.id) not in (None, "")
        else f"row-{number}"
    )


def columns_from(pairs: Sequence[str], categories: Sequence[str], neither: str) -> Columns:
    """`--column comment=text --column label=gold` as Columns."""
    named = dict(column_pair(pair) for pair in pairs)
    unknown = sorted(set(named) - {"comment", "label", "id"})
    if unknown:
        raise UsageError(
            f"--column names '{unknown[0]}'. A table of one's own has comment, label and id. For instance --column comment=text."
        )
    scored = bool(categories) and "label" not in named
    return Columns(
        named.get("comment", "comment"),
        None if scored else named.get("label", "label"),
        categories,
        neither,
        named.get("id"),
    )


def column_pair(text: str) -> tuple[str, str]:
    name, sign, column = text.partition("=")
    if not sign or not name.strip() or not column.strip():
        raise UsageError(
            f"--column '{text}' is not understood. It is what is meant, = and the column's name. For instance --column answer=response."
        )
    return name.strip(), column.strip()


def misspellings() -> Sequence[tuple[str, str]]:
    """Strings and what they are changed to (Chiu et al. 2021, Table 22)."""
    path = Path(str(resources.files("stereometer.benchmarks").joinpath("misspellings.csv")))
    return read_edits(path)


def read_edits(path: Path) -> Sequence[tuple[str, str]]:
    """A table of `original` and `edit`."""
    found = [(row["original"], row["edit"]) for _, row in read_table(path, ["original", "edit"])]
    if not found or not all(original for original, _ in found):
        raise DataError(
            f"{path} has no edits, or one that changes nothing into something. Each row has an original and an edit. Repair it."
        )
    return found
