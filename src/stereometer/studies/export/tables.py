"""Tables for people to open: nothing in them is taken for a formula."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stereometer.files import replacing
from stereometer.findings.align.raters import SMALLEST_CELL, WITHHELD
from stereometer.studies.fields import FORMULA_SIGNS, NO_ANSWER
from stereometer.studies.kinds.kind import DEMOGRAPHICS
from stereometer.studies.people import Participant


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
    """A number for each participant, at random, that says nothing about the order they came in."""
    numbers = list(range(1, len(people) + 1))
    lot.shuffle(numbers)
    return {
        participant.person.id: f"{prefix}{number:04}"
        for participant, number in zip(people, numbers, strict=True)
    }


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
    rows = [{"participant": ids[each.person.id], **_said(each, questions)} for each in shown]
    alike = [rows]
    for question in questions:
        alike = [part for group in alike for part in _parts(group, question)]
    withheld = dict.fromkeys(questions, WITHHELD)
    rows += [{"participant": ids[p.person.id], **withheld} for p in people if p not in shown]
    return sorted(rows, key=lambda row: row["participant"])


def _parts(group: Sequence[dict[str, Any]], question: str) -> list[list[dict[str, Any]]]:
    """Those who answer alike; where that were fewer than five, answers are withheld, the rarest
    first, until nobody is among fewer."""
    by_answer: dict[str, list[dict[str, Any]]] = {}
    for row in group:
        by_answer.setdefault(row[question], []).append(row)
    parts = sorted(by_answer.values(), key=len)
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
