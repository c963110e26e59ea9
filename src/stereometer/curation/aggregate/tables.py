"""Tables of labels: one row per person and what they judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stereometer.curation.aggregate.pairs import STRENGTH, Vote
from stereometer.errors import DataError
from stereometer.shapes.cat.items import LABELS
from stereometer.tables import read_rows

CAT_COLUMNS = ("item", "candidate", "label")
PAIR_COLUMNS = ("item", "more", "less", "minimal", "type")
CAT_LABELS = (*LABELS, "related")
MEND = "Rename the columns, or export the labels again."


def read_cat_labels(path: Path) -> dict[str, list[str]]:
    """The labels of each candidate, by its id."""
    labels: dict[str, list[str]] = {}
    people: set[tuple[str, str]] = set()
    for line, row in read_rows(path, CAT_COLUMNS, MEND):
        label, candidate = str(row["label"]), str(row["candidate"])
        _one_of(label, CAT_LABELS, "label", path, line)
        _once(people, row, candidate, path, line)
        labels.setdefault(candidate, []).append(label)
    return labels


def read_pair_votes(path: Path) -> dict[str, list[Vote]]:
    votes: dict[str, list[Vote]] = {}
    people: set[tuple[str, str]] = set()
    for line, row in read_rows(path, PAIR_COLUMNS, MEND):
        for column in ("more", "less"):
            _one_of(str(row[column]), tuple(STRENGTH), column, path, line)
        _one_of(str(row["minimal"]), ("yes", "no"), "minimal", path, line)
        item = str(row["item"])
        _once(people, row, item, path, line)
        vote = Vote(
            str(row["more"]), str(row["less"]), str(row["minimal"]) == "yes", str(row["type"])
        )
        votes.setdefault(item, []).append(vote)
    return votes


def _one_of(value: str, known: Sequence[str], column: str, path: Path, line: int) -> None:
    if value not in known:
        raise DataError(
            f"{path}, line {line}: {column} is {value[:60]!r}. It must be one of "
            f"{', '.join(known)}. Fix the row."
        )


def _once(
    seen: set[tuple[str, str]], row: Mapping[str, object], what: str, path: Path, line: int
) -> None:
    """Nobody judges the same thing twice, where the table says who judged."""
    person = str(row.get("person") or "")
    if person and (person, what) in seen:
        raise DataError(
            f"{path}, line {line}: {person[:60]!r} judges {what[:60]!r} a second time. Each "
            "person has one vote. Leave out one of the rows."
        )
    seen.add((person, what))
