"""What is published with an export: the data statement (Bender and Friedman 2018), filled from what
really happened, and Croissant metadata."""

import csv
import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from stereometer.kinds.traits.align.raters import SMALLEST_CELL
from stereometer.wings.people.pages.showing import environment
from stereometer.wings.people.people import Edition, Participant, failed_checks
from stereometer.wings.people.study import Study
from stereometer.wings.people.tables import counts_of


def statement(edition: Edition, files: Sequence[Path], facts: Sequence[str]) -> str:
    """The fields A to I, in the order and under the names of the paper's section 5."""
    study, people, counted = edition.study, edition.people, edition.counted
    template = environment().get_template("data-statement.md")
    return template.render(
        study=study,
        kind=study.kind,
        config=study.config,
        pay=study.config.pay,
        people=people,
        counted=counted,
        version=edition.version,
        dates=_dates(people),
        demographics=counts_of(counted, study.config.demographics, edition.hidden),
        smallest_cell=SMALLEST_CELL,
        outcomes=Counter(participant.outcome or "not finished" for participant in people),
        failed=failed_checks(people),
        minutes=_minutes(people),
        listed=_listed,
        files=files,
        facts=facts,
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _minutes(people: Sequence[Participant]) -> float | None:
    """Median time of those who completed."""
    minutes = [
        max(each.finished_at - each.consented_at, 0.0) / 60
        for each in people
        if each.passed and each.finished_at is not None
    ]
    return median(minutes) if minutes else None


def _dates(people: Sequence[Participant]) -> str:
    days = [
        datetime.datetime.fromtimestamp(each.consented_at, datetime.UTC).date().isoformat()
        for each in (*people[:1], *people[-1:])
    ]
    if len(set(days)) > 1:
        return f" between {days[0]} and {days[1]}"
    return f" on {days[0]}" if days else ""


CONTEXT = json.loads(Path(__file__).with_name("croissant_context.json").read_text("utf-8"))
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
