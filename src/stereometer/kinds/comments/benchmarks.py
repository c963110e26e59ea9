"""A user's own table of comments: a text, and a column of labels or of scores for each category."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from stereometer.core.benchmarks.benchmark import Benchmark, Card, Shapes, Source, load_card
from stereometer.core.errors import DataError
from stereometer.core.files import UTF8
from stereometer.core.shapes.sentences import plain_name
from stereometer.core.tables import Layout, empty_file, gathered, read_rows, read_table
from stereometer.kinds.comments.items import Comment, share

PACKAGE = "stereometer.kinds.comments"
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
    encoding: str = UTF8


def own_card() -> Card:
    """Of comments of a user's own."""
    return load_card("comments", PACKAGE)


def read_own(path: Path, columns: Columns) -> Benchmark:
    """Any CSV, TSV or JSONL with a text and labels."""
    needed = [columns.text, *([columns.label] if columns.label else columns.categories)]
    spelt = {plain_name(name): name for name in (*columns.categories, columns.neither)}
    number = count(1)
    comments = gathered(
        path,
        read_rows(path, needed, RENAMED, Layout(columns.encoding), [columns.id or ""]),
        lambda line, row: _comment(row, next(number), columns, spelt, f"{path}, line {line}"),
    )
    if not comments:
        raise empty_file(path)
    if len({comment.id for comment in comments}) < len(comments):
        raise DataError(
            f"{path} has the same id twice. Every row needs its own. Name another column, or none."
        )
    return Benchmark(own_card(), {"comment": comments}, path.name)


def _comment(
    row: Mapping[str, Any], number: int, columns: Columns, spelt: dict[str, str], where: str
) -> Comment:
    """`spelt` is how each label is written: as it was asked for, or where it first stands."""
    text = row[columns.text]
    if not isinstance(text, str) or not text.strip():
        raise DataError(
            f"{where}: the text is empty. There is nothing to ask about. Fix or leave out that row."
        )
    own_id = row.get(columns.id) if columns.id else None
    id_ = f"row-{number}" if own_id in (None, "") else str(own_id)
    scores = _scores(row, columns, spelt, where)
    return Comment(id_, text, scores, number, max(scores.values(), default=0.0))


def _scores(
    row: Mapping[str, Any], columns: Columns, spelt: dict[str, str], where: str
) -> dict[str, float]:
    if columns.label is None:
        return {name: share(row[name], f"{where}: {name}") for name in columns.categories}
    label = str(row[columns.label]).strip()
    if not label:
        raise DataError(
            f"{where}: the label is empty. No category is '{columns.neither}'. Fix that row."
        )
    label = spelt.setdefault(plain_name(label), label)
    return {} if label == columns.neither else {label: 1.0}


def columns_from(
    named: Mapping[str, str], categories: Sequence[str], neither: str, encoding: str = UTF8
) -> Columns:
    """Names of columns, such as {"comment": "text", "label": "gold"}, as Columns."""
    Layout(columns=named).check(("comment", "label", "id"), "A table of your own")
    text, label = named.get("comment", "comment"), named.get("label")
    label = label or (None if categories else "label")
    return Columns(text, label, categories, neither, named.get("id"), encoding)


COLUMNS = """
violence directed_vs_generalized gender race national_origin disability religion sexual_orientation
"""
LABELS = tuple(COLUMNS.split())
WORDS = {"gender": "sexist", "race": "racist"}
"""The two categories of the study (Chiu et al. 2021) as its prompts name them."""
NOUNS = {"sexism": "sexist", "racism": "racist"}
"""These two categories as its tables name them."""


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    """The comments of the binary file in its order, with the labels and rows of the other file."""
    binary, several = files
    labelled = _labels_by_text(several)
    comments: list[Comment] = []
    for number, (line, row) in enumerate(read_table(binary, ["comment", "isHate"]), 1):
        hate = share(row["isHate"], f"{binary}, line {line}: isHate")
        unlabelled = Comment(f"binary-{number}", row["comment"], {}, number)
        comment = labelled.pop(_plain_spaces(row["comment"]), unlabelled)
        comments.append(replace(comment, hate=hate))
    if labelled:
        first = next(iter(labelled.values()))
        raise DataError(
            f"{len(labelled)} comments of {several} are not in {binary}, for instance row "
            f"{first.row}. The two files are of different versions. Fetch both again."
        )
    return {"comment": comments}, []


def _labels_by_text(path: Path) -> dict[str, Comment]:
    comments: dict[str, Comment] = {}
    for number, (line, row) in enumerate(read_table(path, ["comment", *LABELS]), 1):
        scores = {name: share(row[name], f"{path}, line {line}: {name}") for name in LABELS}
        comment = Comment(f"multi-{number}", row["comment"], scores, number)
        comments[_plain_spaces(row["comment"])] = comment
    return comments


def _plain_spaces(text: str) -> str:
    """The files write white space differently: 23 of 433 comments are the same only without it."""
    return " ".join(text.split())


SOURCE = Source(
    "ethos",
    read,
    {"comment": ("recognition-zero-shot",)},
    package=PACKAGE,
    defaults={"categories": WORDS},
    nouns=NOUNS,
    published=("recognition-zero-shot",),
)
