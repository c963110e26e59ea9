"""Tables for people to open, in which nothing is taken for a formula: ratings as `align` reads
them, items in the layouts that `run` reads, labels, and what people said of themselves."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.core.stats.agreement import polarised
from stereometer.core.stats.means import StudentMean
from stereometer.core.tables import write_csv
from stereometer.core.types.groups import lists_by_key
from stereometer.kinds.cats import files as cat_files
from stereometer.kinds.pairs import files as pair_files
from stereometer.kinds.traits.align.raters import SMALLEST_CELL, WITHHELD
from stereometer.wings.curation import labels
from stereometer.wings.people.fields import FORMULA_SIGNS, NO_ANSWER
from stereometer.wings.people.kinds import judging
from stereometer.wings.people.kinds.kind import DEMOGRAPHICS, Judging, read_writers
from stereometer.wings.people.kinds.survey import ratings
from stereometer.wings.people.kinds.writing import WRITE_CATS, WRITE_PAIRS, bonuses
from stereometer.wings.people.people import Participant
from stereometer.wings.people.study import Study

RATINGS = ("participant", "group", "trait", "rating", "place", "turned")
CELLS = ("group", "trait", "mean", "low", "high", "raters", "sd", "polarised")


@dataclass(frozen=True)
class Written:
    """What an export has written, and what is to be said of it."""

    files: list[Path]
    facts: Sequence[str] = ()


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
    ratings_of = lists_by_key(((row["group"], row["trait"]), row["rating"]) for row in rows)
    return [
        _cell(group, trait, np.array(numbers, dtype=float))
        for (group, trait), numbers in ratings_of.items()
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
    written = WRITE_CATS.written
    cats = [cat for each in people for cat in written(study, each.person)]
    files = [cat_files.write(out / "items.json", cats)] if cats else []
    return Written(files, (f"{len(cats)} items were written.",))


def write_written_pairs(
    study: Study, people: Sequence[Participant], ids: Ids, out: Path
) -> Written:
    written = WRITE_PAIRS.written
    by_pair = {pair: ids[each.person.id] for each in people for pair in written(study, each.person)}
    writers = {pair.id: (writer, ()) for pair, writer in by_pair.items()}
    path = out / "pairs.csv"
    files = [pair_files.write(path, list(by_pair), people=writers)] if by_pair else []
    return Written(files, (f"{len(by_pair)} pairs were written.",))


def write_judged_cats(study: Study, people: Sequence[Participant], ids: Ids, out: Path) -> Written:
    rows = _labels(study, people, ids)
    votes = lists_by_key((row["candidate"], row["label"]) for row in rows)
    people_of = lists_by_key((row["candidate"], row["person"]) for row in rows)
    agree, judges = study.options(judging.JudgeCatsOptions).agree, study.config.quota.judgements
    cats = study.cached(judging.cats_of).values()
    judged = [labels.judge_cat(cat, votes, agree, judges) for cat in cats]
    kept = [each.cat for each in judged if each.cat]
    files = [
        cat_files.write(out / "items.json", kept, people=people_of),
        write_table(out / "labels.csv", CAT_LABELS, rows),
        write_table(out / "removed.csv", REMOVED, _removed(judged)),
    ]
    return Written(files, (f"{_kept(judged)}, where {agree} validators had to agree.",))


def write_judged_pairs(study: Study, people: Sequence[Participant], ids: Ids, out: Path) -> Written:
    rows = _labels(study, people, ids)
    judged = judged_pairs(study, rows)
    kept = [each.pair for each in judged if each.pair]
    files = [
        pair_files.write(out / "pairs.csv", kept, people=_people(study, rows)),
        write_table(out / "labels.csv", PAIR_LABELS, rows),
        write_table(out / "removed.csv", REMOVED, _removed(judged)),
    ]
    # As in Table 3 of the paper: how many are valid, and the mean size of the majority.
    facts = [f"{_kept(judged)}; {sum(each.swapped for each in judged)} were swapped."]
    if shares := [labels.majority_share(each) for each in judged if each.votes > 1]:
        mean = 100 * sum(shares) / len(shares)
        facts.append(f"Agreement on validity, the mean majority: {mean:.1f} %.")
    return Written(files, facts)


def judged_pairs(study: Study, rows: Rows) -> list[labels.JudgedPair]:
    votes = lists_by_key((row["item"], labels.vote_of(row)) for row in rows)
    first = study.options(judging.JudgePairsOptions).rule == "writer-and-judges"
    decide = labels.judge_pair if first else labels.judge_again
    pairs, required = study.cached(judging.pairs_of), study.config.quota.judgements
    return [decide(pair, votes.get(id_, []), required) for id_, pair in pairs.items()]


def _removed(judged: Sequence[labels.JudgedCat | labels.JudgedPair]) -> Rows:
    return [{"item": each.item, "reason": each.reason} for each in judged if each.reason]


def _kept(judged: Sequence[labels.JudgedCat | labels.JudgedPair]) -> str:
    kept = len(judged) - len(_removed(judged))
    return f"{kept} of {len(judged)} items are kept ({100 * kept / len(judged):.1f} %)"


def _people(study: Study, rows: Rows) -> dict[str, tuple[str, Sequence[str]]]:
    """Of each pair, numbers for its writer and for those who judged it."""
    hashes = study.cached(read_writers)
    numbers = {hash_: f"w{at:04}" for at, hash_ in enumerate(sorted(set(hashes.values())), 1)}
    judges = lists_by_key((row["item"], row["person"]) for row in rows)
    return {
        id_: (numbers.get(hashes.get(id_, ""), ""), judges.get(id_, ()))
        for id_ in study.cached(judging.pairs_of)
    }


WRITERS: Mapping[str, Callable[[Study, Sequence[Participant], Ids, Path], Written]] = {
    "survey": write_ratings,
    "write-cats": write_written_cats,
    "validate-cats": write_judged_cats,
    "write-pairs": write_written_pairs,
    "validate-pairs": write_judged_pairs,
}
"""What an export writes of the answers, by kind."""


def bonus_rows(study: Study, people: Sequence[Participant]) -> Rows:
    """What each writer has earned, by the keyed hash under which the writing study pays them."""
    judged = judged_pairs(study, _labels(study, people, {}))
    types = {each.pair.id: each.pair.bias_type for each in judged if each.pair}
    writers = study.cached(read_writers).items()
    by_writer = lists_by_key((writer, types[item]) for item, writer in writers if item in types)
    return [
        {"hash": writer, "valid": len(valid), "bonuses": bonuses(valid)}
        for writer, valid in sorted(by_writer.items())
    ]


def _labels(study: Study, people: Sequence[Participant], ids: Ids) -> Rows:
    assert isinstance(study.kind, Judging)
    rows = [
        {"person": ids.get(each.person.id, ""), **row}
        for each in people
        for row in study.kind.labels(study, each.person)
    ]
    return sorted(rows, key=lambda row: (row["item"], row["person"]))


def write_table(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Path:
    return write_csv(path, [columns, *([_harmless(row[name]) for name in columns] for row in rows)])


def _harmless(value: Any) -> Any:
    text = isinstance(value, str) and value[:1] in (*FORMULA_SIGNS, "\t", "\r")
    return f"'{value}" if text else value


def export_ids(people: Sequence[Participant], prefix: str, lot: random.Random) -> dict[str, str]:
    """A number for each participant, at random, that says nothing about the order they came in."""
    numbers = list(range(1, len(people) + 1))
    lot.shuffle(numbers)
    return {each.person.id: f"{prefix}{at:04}" for each, at in zip(people, numbers, strict=True)}


def demographics(
    people: Sequence[Participant],
    questions: Sequence[str],
    ids: Mapping[str, str],
    hidden: Collection[str] = (),
) -> list[dict[str, Any]]:
    """What people said of themselves; a combination that fewer than five share is withheld.

    Question by question, people with the same answers so far are told apart only where at least
    five remain in every part, those whose answer is withheld among them.
    """
    shown = [each for each in people if each.person.id not in hidden]
    rows = []
    for each in shown:
        said = each.person.answers.get(DEMOGRAPHICS, {})
        own = {question: _grouped(said.get(question)) for question in questions}
        rows.append({"participant": ids[each.person.id], **own})
    alike = [rows]
    for question in questions:
        alike = [part for group in alike for part in _parts(group, question)]
    withheld = dict.fromkeys(questions, WITHHELD)
    rows += [{"participant": ids[p.person.id], **withheld} for p in people if p not in shown]
    return sorted(rows, key=lambda row: row["participant"])


def _parts(group: Sequence[dict[str, Any]], question: str) -> list[list[dict[str, Any]]]:
    """Those who answer alike; the rarest answers are withheld until no part is below five."""
    parts = sorted(lists_by_key((row[question], row) for row in group).values(), key=len)
    small: list[dict[str, Any]] = []
    while parts and (len(parts[0]) < SMALLEST_CELL or 0 < len(small) < SMALLEST_CELL):
        small += parts.pop(0)
    for row in small:
        row[question] = WITHHELD
    return [*parts, small] if small else parts


def counts_of(
    people: Sequence[Participant], questions: Sequence[str], hidden: Collection[str] = ()
) -> dict[str, dict[str, int]]:
    """How many people gave each answer about themselves, as far as the table says it."""
    ids = {participant.person.id: participant.person.id for participant in people}
    rows = demographics(people, questions, ids, hidden)
    return {
        question: dict(sorted(Counter(row[question] or "not said" for row in rows).items()))
        for question in questions
    }


def _grouped(value: Any) -> str:
    """Numbers in tens: an exact age says too much about one person."""
    if value in (None, "", NO_ANSWER):
        return ""
    if isinstance(value, int):
        return f"{value // 10 * 10}-{value // 10 * 10 + 9}"
    return str(value)
