"""How far a study is: filled, passed, left out and why, agreement, time and cost so far."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from stereometer.stats.agreement import point_alpha
from stereometer.studies.assignment import places_taken
from stereometer.studies.database import Database
from stereometer.studies.kinds.kind import COMMENTS
from stereometer.studies.people import Participant, everybody, failed_checks, kept
from stereometer.studies.study import Study
from stereometer.studies.versions import current, open_answers


@dataclass(frozen=True)
class Agreement:
    alpha: float | None
    """None where nothing was judged twice, or everybody said the same."""
    majority: float | None
    """Mean share of the largest answer; of labels only."""
    judged: int
    """What was judged at least twice."""


def agreement_of(study: Study, people: Sequence[Participant]) -> Agreement | None:
    """None for a study in which nothing is judged."""
    if study.kind.scale is None:
        return None
    judged: dict[str, list[str | float]] = {}
    for participant in kept(people, study.kind.counts_at_once):
        for what, answer in study.kind.judged(study, participant.person):
            judged.setdefault(what, []).append(answer)
    repeated = [answers for answers in judged.values() if len(answers) > 1]
    names = study.kind.scale == "names"
    shares = [max(Counter(answers).values()) / len(answers) for answers in repeated]
    majority = sum(shares) / len(shares) if names and shares else None
    return Agreement(point_alpha(repeated, names), majority, len(repeated))


@dataclass(frozen=True)
class Progress:
    quota: int
    places: Mapping[str, int]
    """Places taken, counted or open, by unit."""
    outcomes: Mapping[str, int]
    """Participants by outcome; `working` are those who have none yet."""
    failed_checks: Mapping[str, int]
    checked: int
    """Those who reached the end, where checks are judged."""
    page_seconds: Mapping[str, float]
    """Median seconds on a page."""
    cost: float
    currency: str
    raters_agree: Agreement | None
    comments: Sequence[str]

    @property
    def full(self) -> int:
        return sum(count >= self.quota for count in self.places.values())


def progress_of(study: Study, database: Database) -> Progress:
    with database.read() as connection:
        people = everybody(connection)
        version = current(connection)
        taken = places_taken(connection, time.time(), version)
    pay = study.config.pay
    outcomes = Counter(participant.outcome or "working" for participant in people)
    paid = outcomes["complete"] + outcomes["failed"]
    comments = (each.person.answers.get(COMMENTS, {}).get(COMMENTS) for each in people)
    return Progress(
        study.config.quota.judgements,
        {unit.name: taken[unit.name] for unit in study.units},
        dict(outcomes),
        {**dict.fromkeys(study.kind.check_names, 0), **failed_checks(people)},
        paid,
        _page_seconds(people),
        paid * pay.complete + outcomes["left"] * pay.left,
        pay.currency,
        agreement_of(study, [each for each in people if each.version == version]),
        list(filter(None, comments)),
    )


def _page_seconds(people: Sequence[Participant]) -> dict[str, float]:
    seconds: dict[str, list[float]] = {}
    for participant in people:
        before = participant.consented_at
        for page, at in participant.times.items():
            # A clock that was set back while somebody read measures nothing.
            seconds.setdefault(page, []).append(max(at - before, 0.0))
            before = at
    return {page: median(values) for page, values in seconds.items()}


def as_document(study: Study, url: str | None = None) -> dict[str, Any]:
    """What `study status` prints."""
    with closing(open_answers(study, url)) as database:
        progress = progress_of(study, database)
    agreement = progress.raters_agree
    summary: dict[str, Any] = {
        "filled": f"{progress.full} of {len(progress.places)}",
        **{f"people, {outcome}": count for outcome, count in progress.outcomes.items()},
        **{f"failed check: {name}": count for name, count in progress.failed_checks.items()},
        "cost so far": f"{progress.cost:.2f} {progress.currency}",
    }
    if agreement is not None and agreement.alpha is not None:
        summary["Krippendorff's alpha"] = round(agreement.alpha, 2)
    if agreement is not None and agreement.majority is not None:
        summary["mean majority"] = f"{100 * agreement.majority:.1f} %"
    counted = asdict(progress)
    del counted["comments"]  # people's own words are for the researcher's page
    about = {"study": study.config.title, "study_kind": study.kind.name}
    return {"schema": "study-status@1", **about, **counted, "summary": summary}
