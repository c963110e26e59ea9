"""Tables for people to open: nothing in them is taken for a formula."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stereometer.files import replacing
from stereometer.findings.align.raters import SMALLEST_CELL, WITHHELD
from stereometer.studies.closing import DEMOGRAPHICS
from stereometer.studies.fields import FORMULA_SIGNS
from stereometer.studies.people import Participant
from stereometer.studies.questions import NO_ANSWER


@dataclass(frozen=True)
class Written:
    """What an export has written, and what is to be said of it."""

    files: list[Path]
    facts: Sequence[str] = ()


def write_table(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Path:
    with replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_harmless(row[column]) for column in columns] for row in rows)
    return path


def _harmless(value: Any) -> Any:
    text = isinstance(value, str) and value[:1] in (*FORMULA_SIGNS, "\t", "\r")
    return f"'{value}" if text else value


def export_ids(people: Sequence[Participant], prefix: str, lot: random.Random) -> dict[str, str]:
    """A number for each participant, by lot, that says nothing about the order they came in."""
    numbers = list(range(1, len(people) + 1))
    lot.shuffle(numbers)
    return {
        participant.person.id: f"{prefix}{number:04}"
        for participant, number in zip(people, numbers, strict=True)
    }


def demographics(
    people: Sequence[Participant], questions: Sequence[str], ids: Mapping[str, str]
) -> list[dict[str, Any]]:
    """What people said of themselves; a value that fewer than five share is withheld."""
    rows = [
        {"participant": ids[participant.person.id], **_said(participant, questions)}
        for participant in people
    ]
    for question in questions:
        counts = Counter(row[question] for row in rows)
        for row in rows:
            if counts[row[question]] < SMALLEST_CELL:
                row[question] = WITHHELD
    return sorted(rows, key=lambda row: row["participant"])


def counts_of(people: Sequence[Participant], questions: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many people gave each answer about themselves; those of fewer than five together."""
    ids = {participant.person.id: participant.person.id for participant in people}
    rows = demographics(people, questions, ids)
    return {
        question: dict(sorted(Counter(row[question] or "not said" for row in rows).items()))
        for question in questions
    }


def _said(participant: Participant, questions: Sequence[str]) -> dict[str, Any]:
    answers = participant.person.answers.get(DEMOGRAPHICS, {})
    return {question: _grouped(question, answers.get(question)) for question in questions}


def _grouped(question: str, value: Any) -> str:
    """Numbers in tens: an exact age says too much about one person."""
    if value in (None, "", NO_ANSWER):
        return ""
    if isinstance(value, int):
        return f"{value // 10 * 10}-{value // 10 * 10 + 9}"
    return str(value)
