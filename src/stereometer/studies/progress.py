"""How far a study is: filled, passed, left out and why, agreement, time and cost so far."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from stereometer.studies.agreement import Agreement, agreement_of
from stereometer.studies.assignment import places_taken
from stereometer.studies.database import Database, open_database
from stereometer.studies.people import Participant, everybody
from stereometer.studies.study import Study


@dataclass(frozen=True)
class Progress:
    units: Mapping[str, int]
    """Places taken, counted or open, by unit."""
    quota: int
    outcomes: Mapping[str, int]
    """Participants by outcome; `working` are those who have none yet."""
    failed_checks: Mapping[str, int]
    checked: int
    """Those who reached the end, where checks are judged."""
    page_seconds: Mapping[str, float]
    """Median seconds on a page."""
    cost: float
    currency: str
    agreement: Agreement | None
    comments: Sequence[str]

    @property
    def full(self) -> int:
        return sum(count >= self.quota for count in self.units.values())


def progress_of(study: Study, database: Database) -> Progress:
    people = everybody(database)
    with database.read() as connection:
        taken = places_taken(connection, time.time())
    pay = study.config.pay
    outcomes = Counter(participant.outcome or "working" for participant in people)
    paid = outcomes["complete"] + outcomes["failed"]
    return Progress(
        {unit.name: taken[unit.name] for unit in study.units},
        study.config.quota.judgements,
        outcomes,
        _failed(study, people),
        paid,
        _page_seconds(people),
        paid * pay.complete + outcomes["left"] * pay.left,
        pay.currency,
        agreement_of(study, people),
        [text for participant in people if (text := _comment(participant))],
    )


def _failed(study: Study, people: Sequence[Participant]) -> Counter[str]:
    """How many failed each check, also where nobody did."""
    failed = Counter(dict.fromkeys(study.kind.check_names, 0))
    failed.update(check for participant in people for check in participant.failed_checks)
    return failed


def _comment(participant: Participant) -> str:
    return str(participant.person.answers.get("comments", {}).get("comments", ""))


def _page_seconds(people: Sequence[Participant]) -> dict[str, float]:
    seconds: dict[str, list[float]] = {}
    for participant in people:
        before = participant.consented_at
        for page, at in participant.times.items():
            seconds.setdefault(page, []).append(at - before)
            before = at
    return {page: median(values) for page, values in seconds.items()}


def as_document(study: Study, url: str | None = None) -> dict[str, Any]:
    """What `study status` prints."""
    database = open_database(study.folder, url)
    progress = progress_of(study, database)
    database.close()
    agreement = progress.agreement
    summary: dict[str, Any] = {
        "filled": f"{progress.full} of {len(progress.units)}",
        **{f"people, {outcome}": count for outcome, count in progress.outcomes.items()},
        **{f"failed check: {name}": count for name, count in progress.failed_checks.items()},
        "cost so far": f"{progress.cost:.2f} {progress.currency}",
    }
    if agreement is not None and agreement.alpha is not None:
        summary["Krippendorff's alpha"] = round(agreement.alpha, 2)
    if agreement is not None and agreement.majority is not None:
        summary["mean majority"] = f"{100 * agreement.majority:.1f} %"
    return {
        "schema": "study-status@1",
        "study": study.config.title,
        "study_kind": study.kind.name,
        "quota": progress.quota,
        "places": dict(progress.units),
        "outcomes": dict(progress.outcomes),
        "failed_checks": dict(progress.failed_checks),
        "checked": progress.checked,
        "page_seconds": dict(progress.page_seconds),
        "cost": progress.cost,
        "currency": progress.currency,
        "raters_agree": asdict(agreement) if agreement else None,
        "summary": summary,
    }
