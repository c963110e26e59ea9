"""The data statement (Bender and Friedman 2018), filled from what really happened."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from stereometer.files import replacing
from stereometer.studies.export.tables import SMALLEST_CELL
from stereometer.studies.people import Participant
from stereometer.studies.study import Study


def write_statement(
    study: Study, people: Sequence[Participant], files: Sequence[Path], out: Path
) -> Path:
    path = out / "data-statement.md"
    with replacing(path) as file:
        file.write(statement(study, people, files))
    return path


def statement(study: Study, people: Sequence[Participant], files: Sequence[Path]) -> str:
    config, pay = study.config, study.config.pay
    outcomes = Counter(participant.outcome or "not finished" for participant in people)
    hourly = 60 * pay.complete / pay.minutes
    named = "\n".join(f"- `{path.name}`" for path in files)
    return f"""\
# Data statement: {config.title}

## Curation rationale
{study.kind.does}. {len(study.units)} units, {config.quota.judgements} judgements each, \
{config.quota.per_person} a person. The texts that participants read are part of the study's folder.

## Language variety
{", ".join(config.languages)}, as written by participants and by the study's authors. Say here \
which variety the participants speak.

## Participants
{len(people)} people gave consent{_dates(people)}. By outcome: \
{", ".join(f"{outcome} {count}" for outcome, count in sorted(outcomes.items())) or "nobody yet"}. \
{_failed(people)}They came through the panel `{config.panel.name}`.
Pay: {pay.complete:.2f} {pay.currency} for about {pay.minutes:g} minutes ({hourly:.2f} an hour), \
also for those who failed a check; {pay.left:.2f} {pay.currency} for those who left.
{_demographics(study)}

## Situation
Participants answered in a browser, alone, without time limit, after reading a content warning. \
They could leave on every page and can have their answers removed.

## Text characteristics
{study.kind.leaves}

## Recording and provenance
Recorded by the study's own server. Texts are published as they were written. Ids of panels were \
kept apart and are not part of these files.

## Files
{named}

## What this is not
Answers say what people think that others think. They are not facts about any group, and a mean \
hides how far people disagree.
"""


def _dates(people: Sequence[Participant]) -> str:
    if not people:
        return ""
    days = [
        datetime.datetime.fromtimestamp(at, datetime.UTC).date().isoformat()
        for at in (people[0].consented_at, people[-1].consented_at)
    ]
    return f" between {days[0]} and {days[1]}" if days[0] != days[1] else f" on {days[0]}"


def _failed(people: Sequence[Participant]) -> str:
    checks = Counter(check for participant in people for check in participant.failed_checks)
    listed = ", ".join(f"{name} {count}" for name, count in sorted(checks.items()))
    return f"Failed checks: {listed}. " if listed else ""


def _demographics(study: Study) -> str:
    if not study.config.demographics:
        return "No demographics were asked."
    joined = (
        "Their ids are those of the answers, as the consent text allows."
        if study.config.join_demographics
        else "Their ids are not those of the answers: the two cannot be joined."
    )
    asked = ", ".join(study.config.demographics)
    return (
        f"Asked last, every question optional: {asked}. Values that fewer than {SMALLEST_CELL} "
        f"people share are withheld. {joined}"
    )
