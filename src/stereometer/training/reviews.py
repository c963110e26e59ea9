"""Labelled reviews: a table or JSON lines with `text` and `label`, or a folder of text files in
`pos` and `neg`, as the Large Movie Review Dataset has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stereometer.errors import DataError
from stereometer.files import read_text
from stereometer.tables import read_rows

LABELS = ("negative", "positive")
WORDS = {"0": 0, "neg": 0, "negative": 0, "1": 1, "pos": 1, "positive": 1}
FEWEST = 20


@dataclass(frozen=True)
class Review:
    text: str
    label: str


def read(path: Path) -> list[Review]:
    reviews = _folder(path) if path.is_dir() else _table(path)
    if len(reviews) < FEWEST or len({review.label for review in reviews}) < len(LABELS):
        raise DataError(
            f"{path} has {len(reviews)} reviews. At least {FEWEST} are needed, of both labels. "
            "Give more of them."
        )
    return reviews


def _folder(path: Path) -> list[Review]:
    return [
        Review(read_text(file), label)
        for label in LABELS
        for file in sorted((path / label[:3]).glob("*.txt"))
    ]


def _table(path: Path) -> list[Review]:
    reviews = []
    for line, row in read_rows(path, ("text", "label"), "Rename them."):
        label = str(row["label"]).strip().lower()
        if label not in WORDS:
            raise DataError(
                f"{path}, line {line}: label is {row['label']!r}. It must be one of "
                f"{', '.join(WORDS)}. Fix the row."
            )
        reviews.append(Review(str(row["text"]), LABELS[WORDS[label]]))
    return reviews
