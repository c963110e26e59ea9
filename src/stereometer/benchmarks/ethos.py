"""ETHOS (Mollas et al. 2020): comments with a binary hate score, and eight labels for the hateful
ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stereometer.benchmarks.benchmark import Shapes, Source
from stereometer.errors import DataError
from stereometer.shapes.comment.items import Comment, share
from stereometer.tables import read_table

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
    labelled = _labelled(several)
    comments: list[Comment] = []
    for number, (line, row) in enumerate(read_table(binary, ["comment", "isHate"]), 1):
        hate = share(row["isHate"], f"{binary}, line {line}: isHate")
        unlabelled = Comment(f"binary-{number}", row["comment"], {}, number)
        comment = labelled.pop(_spaced(row["comment"]), unlabelled)
        comments.append(replace(comment, hate=hate))
    if labelled:
        first = next(iter(labelled.values()))
        raise DataError(
            f"{len(labelled)} comments of {several} are not in {binary}, for instance row "
            f"{first.row}. The two files are of different versions. Fetch both again."
        )
    return {"comment": comments}, []


def _labelled(path: Path) -> dict[str, Comment]:
    comments: dict[str, Comment] = {}
    for number, (line, row) in enumerate(read_table(path, ["comment", *LABELS]), 1):
        scores = {name: share(row[name], f"{path}, line {line}: {name}") for name in LABELS}
        comment = Comment(f"multi-{number}", row["comment"], scores, number)
        comments[_spaced(row["comment"])] = comment
    return comments


def _spaced(text: str) -> str:
    """The files write white space differently: 23 of 433 comments are the same only without it."""
    return " ".join(text.split())


SOURCE = Source(
    "ethos",
    read,
    {"comment": ("recognition-zero-shot",)},
    defaults={"categories": WORDS},
    nouns=NOUNS,
    published=("recognition-zero-shot",),
)
