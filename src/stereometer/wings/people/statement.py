"""What is published with an export: the data statement (Bender and Friedman 2018), filled from what
really happened, and Croissant metadata."""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

from stereometer.kinds.traits.align.raters import SMALLEST_CELL
from stereometer.wings.people.people import Edition, Participant, failed_checks
from stereometer.wings.people.study import Study
from stereometer.wings.people.tables import Written, counts_of

NOT_SAID = "Not recorded: set `publication.variety` in study.toml."
NOBODY = "nobody yet"
WHAT_IT_IS_NOT = """\
Answers say what people think that others think. They are not facts about any group, and a mean \
hides how far people disagree."""


def statement(edition: Edition, written: Written) -> str:
    """The fields A to I, in the order and under the names of the paper's section 5."""
    study, people, config = edition.study, edition.people, edition.study.config
    pay = config.pay
    paid = (
        f"Pay: {pay.complete:.2f} {pay.currency} for about {pay.minutes:g} minutes "
        f"({pay.hourly:.2f} per hour), also for those who failed a check; "
        f"{pay.left:.2f} {pay.currency} for those who left."
    )
    speakers, annotators = _roles(study, _demographics(edition))
    sections = {
        "A. Curation rationale": f"{study.kind.does}. {len(study.units)} units, "
        f"{config.quota.judgements} judgements each, {config.quota.per_person} per person. "
        + " ".join(written.facts),
        "B. Language variety": f"{', '.join(config.languages)}. "
        f"{config.publication.variety or NOT_SAID}",
        "C. Speaker demographic": speakers,
        "D. Annotator demographic": annotators,
        "E. Speech situation": _situation(study, people),
        "F. Text characteristics": study.kind.leaves,
        "G. Recording quality": "Typed or chosen in a browser and recorded by the study's own "
        "server. Texts are published as they were written.",
        "H. Other": f"{paid}\n\n{WHAT_IT_IS_NOT}",
        "I. Provenance appendix": _provenance(edition, written),
    }
    parts = (f"## {heading}\n{text}\n" for heading, text in sections.items())
    return "\n".join([f"# Data statement: {config.title}\n", *parts])


def _roles(study: Study, participants: str) -> tuple[str, str]:
    """Who wrote, and who judged: the same people only in a study in which both are done."""
    if study.kind.scale is None:
        return participants, "Nobody has judged these texts yet."
    wrote = (
        "No text was written; the scales are the study's own."
        if study.kind.scale == "numbers"
        else "The items come from elsewhere; see the statement that belongs to them."
    )
    return wrote, participants


def _demographics(edition: Edition) -> str:
    study, people, counted = edition.study, edition.people, edition.counted
    joined = [
        f"{len(people)} people gave consent{_dates(people)}; the answers of {len(counted)} count.",
        f"They came through the panel `{study.config.panel.name}`.",
    ]
    if not study.config.demographics:
        return " ".join([*joined, "No demographics were asked."])
    shared = (
        "The ids in demographics.csv are those of the answers, as the consent text allows: of "
        "two exports around a withdrawal, the answers that are gone say who has withdrawn."
        if study.config.join_demographics
        else "The ids in demographics.csv are not those of the answers: the two cannot be joined."
    )
    said = [
        f"- {question}: {', '.join(f'{value} {count}' for value, count in counts.items())}"
        for question, counts in counts_of(
            counted, study.config.demographics, edition.hidden
        ).items()
    ]
    asked = (
        "Asked last, every question optional; combinations of answers that fewer than "
        f"{SMALLEST_CELL} people share are withheld. {shared}"
    )
    return " ".join([*joined, asked]) + "\n\n" + "\n".join(said)


def _situation(study: Study, people: Sequence[Participant]) -> str:
    outcomes = Counter(participant.outcome or "not finished" for participant in people)
    listed = ", ".join(f"{outcome} {count}" for outcome, count in sorted(outcomes.items()))
    checks = sorted(failed_checks(people).items())
    failed = ", ".join(f"{name} {count}" for name, count in checks)
    return (
        "Participants answered in a browser, after reading a content warning; who was with them is "
        f"not known. A place was kept for {study.config.quota.lease_minutes:g} minutes after each "
        "page. They could leave on every page and can have their answers removed. "
        f"By outcome: {listed or NOBODY}. {f'Failed checks: {failed}. ' if failed else ''}"
        f"{_time(people)}"
    ).strip()


def _time(people: Sequence[Participant]) -> str:
    minutes = [
        max(each.finished_at - each.consented_at, 0.0) / 60
        for each in people
        if each.passed and each.finished_at is not None
    ]
    return f"Median time of those who completed: {median(minutes):.1f} minutes." if minutes else ""


def _provenance(edition: Edition, written: Written) -> str:
    study, version = edition.study, edition.version
    frozen = (
        f"They are version {version.number}, frozen at the first consent (SHA-256 "
        f"{version.digest}). "
        if version
        else ""
    )
    materials = ", ".join(f"`{name}`" for name in study.kind.materials)
    files = "\n".join(f"- `{path.name}`" for path in written.files)
    return (
        f"Made from {materials} in the study's folder, with the texts that participants read. "
        f"{frozen}Ids of panels were kept apart and are not part of these files:\n\n{files}"
    )


def _dates(people: Sequence[Participant]) -> str:
    if not people:
        return ""
    days = [
        datetime.datetime.fromtimestamp(at, datetime.UTC).date().isoformat()
        for at in (people[0].consented_at, people[-1].consented_at)
    ]
    return f" between {days[0]} and {days[1]}" if days[0] != days[1] else f" on {days[0]}"


CONTEXT = json.loads(
    resources.files("stereometer.wings.people")
    .joinpath("croissant_context.json")
    .read_text("utf-8")
)
"""The names of the format, version 1.0."""
FORMATS = {".csv": "text/csv", ".json": "application/json", ".md": "text/markdown"}
NUMBERS = {"rating", "mean", "low", "high", "raters", "sd", "place"}


def croissant(study: Study, files: Sequence[Path], facts: Sequence[str] = ()) -> dict[str, Any]:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    tables = [path for path in files if path.suffix == ".csv"]
    # What the study's authors have said; nothing is made up.
    said = {"license": study.config.publication.licence, "url": study.config.publication.address}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "".join(sign if sign.isalnum() else "-" for sign in study.config.title),
        "description": " ".join([f"{study.kind.does}.", *facts, "See data-statement.md."]),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **{name: value for name, value in said.items() if value},
        "version": "1.0.0",
        "datePublished": today,
        "citeAs": study.config.title,
        "rai:dataCollection": "A study in the browser; data-statement.md says how.",
        "distribution": [_file(path) for path in files],
        "recordSet": [_records(path) for path in tables],
    }


def _file(path: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "encodingFormat": FORMATS[path.suffix],
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def _records(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file))
    name = path.stem
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "dataType": "sc:Float" if column in NUMBERS else "sc:Text",
                "source": {"fileObject": {"@id": path.name}, "extract": {"column": column}},
            }
            for column in columns
        ],
    }
