"""ETHOS (Mollas et al. 2020): comments with a binary hate score, and eight labels for the hateful ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stereometer.benchmarks.benchmark import Shapes, Source
from stereometer.errors import DataError
from stereometer.files import read_table
from stereometer.shapes.comment.items import Comment, share

LABELS = (
    "violence",
    "directed_vs_generalized",
    "gender",
    "race",
    "national_origin",
    "disability",
    "religion",
    "sexual_orientation",
)
WORDS = {"gender": "sexist", "race": "racist"}
"""The two categories of the study (Chiu et al. 2021) as its prompts name them."""
NOUNS = {"sexism": "sexist", "racism": "racist"}
"""The same two as its tables name them."""


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    """The binary file's comments, in its order; those that the other file labels carry its labels and its row."""
    binary, several = files
    labelled = _labelled(several)
    comments: list[Comment] = []
    for number, (line, row) in enumerate(read_table(binary, ["comment", "isHate"]), 1):
        hate = share(row["isHate"], f"{binary}, line {line}: isHate")
        own = labelled.pop(_plain(row["comment"]), None)
        comments.append(
            Comment(f"binary-{number}", row["comment"], {}, number, hate)
            if own is None
            else _with(own, hate)
        )
    if labelled:
        first = next(iter(labelled.values()))
        raise DataError(
            f"{len(labelled)} comments of {several} are not in {binary}, for instance row {first.row}. The two files are of different versions. Fetch both again."
        )
    return {"comment": comments}, []


def _labelled(path: Path) -> dict[str, Comment]:
    found: dict[str, Comment] = {}
    for number, (line, row) in enumerate(read_table(path, ["comment", *LABELS]), 1):
        scores = {name: share(row[name], f"{path}, line {line}: {name}") for name in LABELS}
        found[_plain(row["comment"])] = Comment(f"multi-{number}", row["comment"], scores, number)
    return found


def _with(comment: Comment, hate: float) -> Comment:
    return Comment(comment.id, comment.text, comment.scores, comment.row, hate)


def _plain(text: str) -> str:
    """The files write white space differently: 23 of 433 comments are the same only without it."""
    return " ".join(text.split())


MEASURES: Mapping[str, Sequence[str]] = {}
"""None that `run` could take: these comments are asked about in words."""

SOURCE = Source("ethos", read, MEASURES)
