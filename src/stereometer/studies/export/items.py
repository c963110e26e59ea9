"""Items that were written or judged, in the layouts that `run` reads, with every label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer.curation.aggregate.cats import judge_cat
from stereometer.curation.aggregate.pairs import Vote, judge_again, judge_pair
from stereometer.shapes.cat import files as cat_files
from stereometer.shapes.pair import files as pair_files
from stereometer.studies.export.tables import write_table
from stereometer.studies.kinds import judge_cats, judge_pairs, write_cats, write_pairs
from stereometer.studies.kinds.writers import read_writers
from stereometer.studies.people import Participant
from stereometer.studies.study import Study

REMOVED = ("item", "reason")
Ids = Mapping[str, str]


def write_written_cats(
    study: Study, people: Sequence[Participant], ids: Ids, out: Path
) -> list[Path]:
    written = write_cats.WRITE_CATS.written
    cats = [cat for each in people for cat in written(study, each.person)]
    return [cat_files.write(out / "items.json", cats)] if cats else []


def write_written_pairs(
    study: Study, people: Sequence[Participant], ids: Ids, out: Path
) -> list[Path]:
    written = write_pairs.WRITE_PAIRS.written
    pairs = [pair for each in people for pair in written(study, each.person)]
    return [pair_files.write(out / "pairs.csv", pairs)] if pairs else []


def write_judged_cats(
    study: Study, people: Sequence[Participant], ids: Ids, out: Path
) -> list[Path]:
    rows = _labels(people, ids, lambda each: judge_cats.labels(study, each.person))
    votes: dict[str, list[str]] = {}
    for row in rows:
        votes.setdefault(row["candidate"], []).append(row["label"])
    agree = study.options(judge_cats.Options).agree
    judged = [judge_cat(cat, votes, agree) for cat in study.cached(judge_cats.read_items).values()]
    removed = [{"item": each.item, "reason": each.reason} for each in judged if each.reason]
    return [
        cat_files.write(out / "items.json", [each.cat for each in judged if each.cat]),
        write_table(out / "labels.csv", ("item", "candidate", "person", "label"), rows),
        write_table(out / "removed.csv", REMOVED, removed),
    ]


def write_judged_pairs(
    study: Study, people: Sequence[Participant], ids: Ids, out: Path
) -> list[Path]:
    rows = _labels(people, ids, lambda each: judge_pairs.labels(study, each.person))
    votes: dict[str, list[Vote]] = {}
    for row in rows:
        vote = Vote(row["more"], row["less"], row["minimal"] == "yes", row["type"])
        votes.setdefault(row["item"], []).append(vote)
    first = study.options(judge_pairs.Options).rule == "writer-and-judges"
    decide = judge_pair if first else judge_again
    pairs = study.cached(judge_pairs.read_items)
    judged = [decide(pair, votes.get(id_, [])) for id_, pair in pairs.items()]
    removed = [{"item": each.item, "reason": each.reason} for each in judged if each.reason]
    columns = ("item", "person", "more", "less", "minimal", "type")
    return [
        pair_files.write(out / "pairs.csv", [each.pair for each in judged if each.pair]),
        write_table(out / "labels.csv", columns, rows),
        write_table(out / "removed.csv", REMOVED, removed),
        *_bonuses(study, {each.item: each.pair.bias_type for each in judged if each.pair}, out),
    ]


def _bonuses(study: Study, types: Mapping[str, str], out: Path) -> list[Path]:
    """How many bonuses each writer has earned, by the keyed hash under which they are paid."""
    writers = study.cached(read_writers)
    by_writer: dict[str, list[str]] = {}
    for item, bias_type in types.items():
        if item in writers:
            by_writer.setdefault(writers[item], []).append(bias_type)
    rows = [
        {"writer": writer, "valid": len(valid), "bonuses": write_pairs.bonuses(valid)}
        for writer, valid in sorted(by_writer.items())
    ]
    return [write_table(out / "bonuses.csv", ("writer", "valid", "bonuses"), rows)] if rows else []


def _labels(people: Sequence[Participant], ids: Ids, labels_of: Any) -> list[dict[str, Any]]:
    rows = [{"person": ids[each.person.id], **row} for each in people for row in labels_of(each)]
    return sorted(rows, key=lambda row: (row["item"], row["person"]))
