"""Ratings with one row per participant and one column per question, as survey programs export them.

Qualtrics writes three header rows: names of variables, texts of questions, and import ids as JSON.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer.errors import DataError, did_you_mean
from stereometer.findings.align.names import Names, spelling
from stereometer.tables import read_table

PERSON = "ResponseId"
UNWANTED = {
    "Status": {"survey preview", "survey test", "spam", "1", "2", "8", "9", "17"},
    "Finished": {"false", "0"},
    "DistributionChannel": {"preview", "test"},
}
"""Rows that Qualtrics itself marks as trials, as spam or as not finished, in words or in codes."""
ORDER = re.compile(r"_DO(_|$)")
"""Columns of Qualtrics that hold the order in which items were shown."""
SHOWN = 16
"""Columns that a note names."""
QUESTION = ("column", "group", "trait")
WAY_OUT = (
    "Say what columns ask in a table of column, group, trait, and give that with --questions; for "
    "a column that is not a rating leave group and trait empty."
)

Table = Sequence[tuple[int, Mapping[str, Any]]]
Row = tuple[str, str, str, str, object]
"""Where it stands, participant, group, trait, rating."""
Asked = Mapping[str, tuple[str, str]]
"""By column, the group and the trait that it asks about; empty where that is not known."""


def wide_rows(
    path: Path, table: Table, names: Names, questions: Path | None
) -> tuple[list[Row], list[str]]:
    """Every answer, and notes on what was read and what was left out."""
    texts, people, notes = _without_trials(table)
    given = _given(questions, texts, names) if questions else {}
    guessed = _guessed(path, {name: texts[name] for name in texts if name not in given}, names)
    columns = {name: cell for name, cell in {**guessed, **given}.items() if all(cell)}
    if not columns:
        raise DataError(
            f"{path} has no column that can be recognised as ratings. Its columns are "
            f"{', '.join(texts)[:300]}. If it has one row per rating, name the columns: --column "
            f"participant=NAME,group=NAME,trait=NAME,rating=NAME. {WAY_OUT}"
        )
    read = [
        f"{name} ({group}, {trait}{', turned' if turned else ''})"
        for name, (group, scale) in columns.items()
        for trait, turned in [names.trait(scale, name)]
    ]
    shown = "; ".join([*read[:SHOWN], *([f"and {len(read) - SHOWN} more"] if read[SHOWN:] else [])])
    notes.append(f"Columns read as ratings: {shown}.")
    return [
        (
            f"{path}, line {line}, {name}",
            str(row.get("participant") or row.get(PERSON) or f"line {line}"),
            *cell,
            row[name],
        )
        for line, row in people
        for name, cell in columns.items()
    ], notes


def _without_trials(table: Table) -> tuple[Mapping[str, str], Table, list[str]]:
    """What each column asks, the rows of participants, and how many rows were left out."""
    headers = 0  # rows that hold the texts of questions or the import ids
    for at, (_, row) in enumerate(table[:2], 1):
        ids = any(str(cell).startswith('{"ImportId"') for cell in row.values())
        headers = at if ids or row.get(PERSON) == "Response ID" else headers
    texts = {name: str(text) if headers else name for name, text in table[0][1].items()}
    kept, left_out = [], Counter[str]()
    for line, row in table[headers:]:
        marks = [name for name in UNWANTED if spelling(str(row.get(name, ""))) in UNWANTED[name]]
        if marks and (headers or PERSON in row):
            left_out[f"{marks[0]} {row[marks[0]]}"] += 1
        else:
            kept.append((line, row))
    counts = ", ".join(f"{count} ({mark})" for mark, count in left_out.items())
    return texts, kept, [f"Rows of the export that were left out: {counts}."] if counts else []


def _guessed(path: Path, texts: Mapping[str, str], names: Names) -> Asked:
    """From the text of a question, then from the name of its variable.

    A group that every question names is part of the wording: "How do most Americans see ...?"
    """
    found = {}
    for name, text in texts.items():
        groups, trait = names.asked(text) if not ORDER.search(name) else (set(), "")
        of_variable = names.asked(name)
        found[name] = groups or of_variable[0], trait or of_variable[1]
    rated = [groups for groups, trait in found.values() if groups and trait]
    wording = set.intersection(*rated) if len(set(map(frozenset, rated))) > 1 else set()
    columns = {name: (groups - wording, trait) for name, (groups, trait) in found.items()}
    for name, (groups, trait) in columns.items():
        pole = names.pole(texts[name])
        if (trait and len(groups) != 1) or (pole and len(groups) == 1 and not trait):
            missing = f"a trait, only {pole!r}" if pole and groups else "one group"
            raise DataError(
                f"{path}: the column {name} ({texts[name][-200:]!r}) does not name {missing}. It "
                f"cannot be told what it asks. {WAY_OUT}"
            )
    return {name: (min(groups, default=""), trait) for name, (groups, trait) in columns.items()}


def _given(path: Path, texts: Mapping[str, str], names: Names) -> Asked:
    """From a table of column, group, trait."""
    found = {}
    for line, row in read_table(path, QUESTION):
        name, group, trait = (row[key].strip() for key in QUESTION)
        where = f"{path}, line {line}"
        if name not in texts:
            hint = did_you_mean(name, {known: known for known in texts})
            raise DataError(
                f"{where}: the ratings have no column '{name}'. {hint or 'So it cannot be read.'} "
                "Write it as in the first row of the ratings."
            )
        if group or trait:
            names.trait(trait, where)
        found[name] = group and names.group(group, where), trait
    return found
