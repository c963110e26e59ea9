"""Ratings as `align` reads them, and items in the layouts that `run` reads, with every label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.curation.aggregate.rules import (
    JudgedCat,
    JudgedPair,
    Vote,
    judge_again,
    judge_cat,
    judge_pair,
    majority_share,
)
from stereometer.shapes.cat import files as cat_files
from stereometer.shapes.pair import files as pair_files
from stereometer.stats.means import StudentMean
from stereometer.stats.polarised import polarised
from stereometer.studies.export.tables import Written, write_table
from stereometer.studies.kinds import judge_cats, judge_pairs, write_cats, write_pairs
from stereometer.studies.kinds.kind import read_writers
from stereometer.studies.kinds.survey import ratings
from stereometer.studies.people import Participant
from stereometer.studies.study import Study

RATINGS = ("participant", "group", "trait", "rating", "place", "turned")
CELLS = ("group", "trait", "mean", "low", "high", "raters", "sd", "polarised")


def write_ratings(
    study: Study, people: Sequence[Participant], ids: Mapping[str, str], out: Path
) -> Written:
    rows = [
        {"participant": ids[participant.person.id], **row}
        for participant in people
        for row in ratings(study, participant.person)
    ]
    rows.sort(key=lambda row: row["participant"])
    table = cells(rows)
    files = [
        write_table(out / "ratings.csv", RATINGS, rows),
        write_table(out / "means.csv", CELLS, table),
    ]
    marked = sum(bool(row["polarised"]) for row in table)
    facts = f"{len(rows)} ratings of {len(table)} groups and traits; {marked} are polarised."
    return Written(files, (facts,))


def cells(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row per group and trait that at least two people rated."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        values.setdefault((row["group"], row["trait"]), []).append(row["rating"])
    return [
        _cell(group, trait, np.array(numbers, dtype=float))
        for (group, trait), numbers in values.items()
        if len(numbers) > 1
    ]


def _cell(group: str, trait: str, numbers: Any) -> dict[str, Any]:
    low, high = StudentMean.of(numbers).interval(0.95)
    alike = not numbers.std()  # which is not certainty, so it has no interval
    return {
        "group": group,
        "trait": trait,
        "mean": round(float(numbers.mean()), 2),
        "low": "" if alike else round(max(low, 0.0), 2),
        "high": "" if alike else round(min(high, 100.0), 2),
        "raters": numbers.size,
        "sd": round(float(numbers.std(ddof=1)), 2),
        "polarised": "yes" if polarised(numbers) else "",
    }


REMOVED = ("item", "reason")
CAT_LABELS = ("item", "candidate", "person", "label", "place")
PAIR_LABELS = ("item", "person", "more", "less", "minimal", "type", "first")
Ids = Mapping[str, str]
Rows = list[dict[str, Any]]


def write_written_cats(study: Study, people: Sequence[Participant], ids: Ids, out: Path) -> Written:
    written = write_cats.WRITE_CATS.written
    cats = [cat for each in people for cat in written(study, each.person)]
    files = [cat_files.write(out / "items.json", cats)] if cats else []
    return Written(files, (f"{len(cats)} items were written.",))


def write_written_pairs(
    study: Study, people: Sequence[Participant], ids: Ids, out: Path
) -> Written:
    written = write_pairs.WRITE_PAIRS.written
    by_pair = {pair: ids[each.person.id] for each in people for pair in written(study, each.person)}
    writers = {pair.id: (writer, ()) for pair, writer in by_pair.items()}
    path = out / "pairs.csv"
    files = [pair_files.write(path, list(by_pair), people=writers)] if by_pair else []
    return Written(files, (f"{len(by_pair)} pairs were written.",))


def write_judged_cats(study: Study, people: Sequence[Participant], ids: Ids, out: Path) -> Written:
    rows = _labels(people, ids, lambda each: judge_cats.labels(study, each.person))
    votes: dict[str, list[str]] = {}
    people_of: dict[str, list[str]] = {}
    for row in rows:
        votes.setdefault(row["candidate"], []).append(row["label"])
        people_of.setdefault(row["candidate"], []).append(row["person"])
    agree, judges = study.options(judge_cats.Options).agree, study.config.quota.judgements
    cats = study.cached(judge_cats.read_items).values()
    judged = [judge_cat(cat, votes, agree, judges) for cat in cats]
    files = [
        cat_files.write(
            out / "items.json", [each.cat for each in judged if each.cat], people=people_of
        ),
        write_table(out / "labels.csv", CAT_LABELS, rows),
        write_table(out / "removed.csv", REMOVED, _removed(judged)),
    ]
    return Written(files, (f"{_kept(judged)}, where {agree} validators had to agree.",))


def write_judged_pairs(study: Study, people: Sequence[Participant], ids: Ids, out: Path) -> Written:
    rows = _pair_labels(study, people, ids)
    judged = judged_pairs(study, rows)
    kept = [each.pair for each in judged if each.pair]
    files = [
        pair_files.write(out / "pairs.csv", kept, people=_people(study, rows)),
        write_table(out / "labels.csv", PAIR_LABELS, rows),
        write_table(out / "removed.csv", REMOVED, _removed(judged)),
    ]
    return Written(files, tuple(_outcome(judged)))


def _pair_labels(study: Study, people: Sequence[Participant], ids: Ids) -> Rows:
    return _labels(people, ids, lambda each: judge_pairs.labels(study, each.person))


def judged_pairs(study: Study, rows: Rows) -> list[JudgedPair]:
    votes: dict[str, list[Vote]] = {}
    for row in rows:
        votes.setdefault(row["item"], []).append(judge_pairs.vote_of(row))
    first = study.options(judge_pairs.Options).rule == "writer-and-judges"
    decide = judge_pair if first else judge_again
    pairs, required = study.cached(judge_pairs.read_items), study.config.quota.judgements
    return [decide(pair, votes.get(id_, []), required) for id_, pair in pairs.items()]


def _removed(judged: Sequence[JudgedCat | JudgedPair]) -> Rows:
    return [{"item": each.item, "reason": each.reason} for each in judged if each.reason]


def _kept(judged: Sequence[JudgedCat | JudgedPair]) -> str:
    kept = len(judged) - len(_removed(judged))
    return f"{kept} of {len(judged)} items are kept ({100 * kept / len(judged):.1f} %)"


def _outcome(judged: Sequence[JudgedPair]) -> list[str]:
    """As in Table 3 of the paper: how many are valid, and the mean size of the majority."""
    said = [majority_share(each) for each in judged if each.votes > 1]
    facts = [f"{_kept(judged)}; {sum(each.swapped for each in judged)} were swapped."]
    if said:
        facts.append(
            f"Agreement on validity, the mean majority: {100 * sum(said) / len(said):.1f} %."
        )
    return facts


def _people(study: Study, rows: Rows) -> dict[str, tuple[str, Sequence[str]]]:
    """Of each pair, numbers for its writer and for those who judged it."""
    hashes = study.cached(read_writers)
    numbers = {hash_: f"w{at:04}" for at, hash_ in enumerate(sorted(set(hashes.values())), 1)}
    judges: dict[str, list[str]] = {}
    for row in rows:
        judges.setdefault(row["item"], []).append(row["person"])
    return {
        id_: (numbers.get(hashes.get(id_, ""), ""), judges.get(id_, ()))
        for id_ in study.cached(judge_pairs.read_items)
    }


def bonus_rows(study: Study, people: Sequence[Participant]) -> Rows:
    """What each writer has earned, by the keyed hash under which the writing study pays them."""
    judged = judged_pairs(study, _pair_labels(study, people, {}))
    types = {each.pair.id: each.pair.bias_type for each in judged if each.pair}
    by_writer: dict[str, list[str]] = {}
    for item, writer in study.cached(read_writers).items():
        if item in types:
            by_writer.setdefault(writer, []).append(types[item])
    return [
        {"hash": writer, "valid": len(valid), "bonuses": write_pairs.bonuses(valid)}
        for writer, valid in sorted(by_writer.items())
    ]


def _labels(
    people: Sequence[Participant], ids: Ids, labels_of: Callable[[Participant], Rows]
) -> Rows:
    rows = [
        {"person": ids.get(each.person.id, ""), **row} for each in people for row in labels_of(each)
    ]
    return sorted(rows, key=lambda row: (row["item"], row["person"]))
