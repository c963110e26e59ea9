"""aggregate: a table of labels becomes items with gold labels, and a list of those left out."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from stereometer.curation.aggregate.rules import (
    AGREE,
    JUDGES,
    STRENGTH,
    JudgedCat,
    JudgedPair,
    Vote,
    judge_again,
    judge_cat,
    judge_pair,
    majority_share,
)
from stereometer.errors import DataError, UnknownName, UsageError
from stereometer.files import replacing
from stereometer.options import Option, verb
from stereometer.runs.open import open_benchmark
from stereometer.shapes.cat import files as cat_files
from stereometer.shapes.cat.items import LABELS, Cat
from stereometer.shapes.pair import files as pair_files
from stereometer.shapes.pair.items import Pair
from stereometer.tables import read_rows
from stereometer.types import Item
from stereometer.types.shown import Told

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


RULES = ("stereoset", "crows-pairs", "majority")


@verb
def aggregate(
    labels: Annotated[
        str | Path,
        "A table of labels: one row per person and what they judged.",
    ],
    *,
    items: Annotated[
        str | Path, Option("The items they are about: a file or a benchmark.", words=str)
    ],
    rule: Annotated[str, "stereoset, crows-pairs, or majority (its second validation)."],
    out: Annotated[str | Path, "Folder for the items that are kept."],
    agree: Annotated[int, "How many must agree on each association, under stereoset."] = AGREE,
    judges: Annotated[int, "How many people must have judged an item for it to be kept."] = JUDGES,
) -> Told:
    """Write the items that the labels accept to `out`, and say what became of the others."""
    if judges < 1:
        raise UsageError(
            f"--judges {judges} would keep what nobody has judged. It is how many people must have "
            "judged an item. Write 1 or more."
        )
    if rule not in RULES:
        raise UnknownName("rule", rule, RULES, "`stereometer aggregate --help` describes them.")
    source = [item for listed in open_benchmark(str(items)).shapes.values() for item in listed]
    settle = _settle_cats if rule == "stereoset" else _settle_pairs
    document = settle(Path(labels), source, rule, Path(out), agree, judges)
    kept = f"{document['kept']} of {document['judged']} items are kept, in {document['file']}."
    left_out = (f"{count} left out: {reason}." for reason, count in document["left_out"].items())
    return Told(kept, *left_out, **document)


def _settle_cats(
    labels: Path, source: Sequence[Item], rule: str, out: Path, agree: int, judges: int
) -> dict[str, Any]:
    votes = read_cat_labels(labels)
    cats = [item for item in source if isinstance(item, Cat)]
    _known(labels, votes, {each.id for cat in cats for each in cat.candidates.values()})
    judged = [judge_cat(cat, votes, agree, judges) for cat in cats]
    cat_files.write(out / "items.json", [each.cat for each in judged if each.cat])
    return _document(rule, judged, out, "items.json")


def _settle_pairs(
    labels: Path, source: Sequence[Item], rule: str, out: Path, agree: int, judges: int
) -> dict[str, Any]:
    votes = read_pair_votes(labels)
    pairs = [item for item in source if isinstance(item, Pair)]
    _known(labels, votes, {pair.id for pair in pairs})
    decide: Callable[..., JudgedPair] = judge_pair if rule == "crows-pairs" else judge_again
    judged = [decide(pair, votes.get(pair.id, ()), judges) for pair in pairs]
    pair_files.write(out / "pairs.csv", [each.pair for each in judged if each.pair])
    document = _document(rule, judged, out, "pairs.csv")
    shares = [majority_share(each) for each in judged if each.item in votes]
    return {**document, "mean_majority": sum(shares) / len(shares) if shares else None}


def _known(path: Path, votes: Mapping[str, object], ids: set[str]) -> None:
    unknown = [id_ for id_ in votes if id_ not in ids]
    if unknown:
        raise DataError(
            f"{path} judges {unknown[0][:60]!r}, which is not among the items. "
            f"{len(unknown)} of its ids are unknown. Name the items that these labels are about."
        )


def _document(
    rule: str, judged: Sequence[JudgedCat | JudgedPair], out: Path, name: str
) -> dict[str, Any]:
    removed = [each for each in judged if each.reason]
    with replacing(out / "removed.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("item", "reason"), *((each.item, each.reason) for each in removed)])
    return {
        "schema": "aggregate@1",
        "rule": rule,
        "judged": len(judged),
        "kept": len(judged) - len(removed),
        "left_out": dict(Counter(each.reason for each in removed)),
        "file": str(out / name),
    }
