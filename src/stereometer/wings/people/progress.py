"""study check: what is missing, how many people it takes, what it costs, what it can show; and
study status: filled, passed, left out and why, agreement, time and cost so far.

For a survey: from the spread of ratings within and between cells, how wide the interval of a mean
gets with n raters per group, and which agreement (Kendall's tau) is to be expected.
"""

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import stats

from stereometer.core.errors import DataError, UsageError
from stereometer.core.stats.agreement import point_alpha
from stereometer.core.types.groups import lists_by_key
from stereometer.kinds.traits.abc.files import SocialGroup, read_groups, read_traits
from stereometer.kinds.traits.abc.items import data_file
from stereometer.kinds.traits.align.names import EVERYBODY, Names
from stereometer.kinds.traits.align.ratings import Ratings, read_ratings
from stereometer.wings.people.database import Database
from stereometer.wings.people.kinds import survey
from stereometer.wings.people.kinds.kind import COMMENTS
from stereometer.wings.people.pages.showing import render_everything
from stereometer.wings.people.people import (
    Participant,
    everybody,
    failed_checks,
    kept,
    places_taken,
)
from stereometer.wings.people.study import Study, current, open_answers

RATERS = (5, 10, 20, 40, 80)
NEAR = 5.0
"""Points within which a mean should be known, unless something else is wanted."""
FAIR_HOURLY = 15.0
"""What StereoSet and CrowS-Pairs paid at least, in dollars."""


@dataclass(frozen=True)
class Precision:
    """What a number of passing raters per group gives."""

    raters: int
    half_width: float
    """Of the 95 % interval of a mean."""
    split_half: float
    """Tau between halves of the raters."""
    panel: float
    """Tau against another panel of the same size."""
    best: float
    """The best tau anything can have with their means."""


@dataclass(frozen=True)
class RaterSpread:
    """How far raters differ."""

    within: float
    """Standard deviation within a cell, mean over cells."""
    wide: float
    """Standard deviation within the cell at the 90th percentile."""
    single_rater: float
    """Reliability of one rater: the variance between cells over all variance."""


PUBLISHED = RaterSpread(21.873, 28.250, 0.3465)
"""`spread_of` the released ratings of the ABC study, its 25 groups."""


def spread_of(ratings: Ratings) -> RaterSpread:
    """Of a pilot or of released ratings; people in general, a yardstick, are left out."""
    tables = [table for group, table in ratings.tables.items() if group != EVERYBODY]
    columns = [column[~np.isnan(column)] for table in tables for column in table.T]
    if len(columns) < 2:
        raise DataError(
            "The pilot has ratings of a single group and trait. How far cells differ cannot be "
            "told from one. Rate at least two."
        )
    spreads = [column.std(ddof=1) for column in columns]
    error = float(np.mean([column.var(ddof=1) for column in columns]))
    raters = float(np.mean([column.size for column in columns]))
    means = np.array([column.mean() for column in columns])
    between = max(float(means.var(ddof=1)) - error / raters, 0.0)
    wide = float(np.quantile(spreads, 0.9))
    return RaterSpread(float(np.mean(spreads)), wide, between / (between + error))


def precision(raters: int, spread: RaterSpread = PUBLISHED) -> Precision:
    return Precision(
        raters,
        _half_width(raters, spread.within),
        tau(reliability(raters / 2, spread.single_rater)),
        tau(reliability(raters, spread.single_rater)),
        tau(math.sqrt(reliability(raters, spread.single_rater))),
    )


def reliability(raters: float, single: float) -> float:
    """Of the mean of several raters (Spearman and Brown)."""
    return raters * single / (1 + (raters - 1) * single)


def tau(correlation: float) -> float:
    """Kendall's tau of two normal variables that correlate so."""
    return 2 / math.pi * math.asin(min(correlation, 1.0))


def raters_for(half_width: float, deviation: float) -> int:
    """The fewest raters whose mean has an interval of at most that half width."""
    raters = max(2, math.floor((1.96 * deviation / half_width) ** 2))
    while _half_width(raters, deviation) > half_width:
        raters += 1
    return raters


def _half_width(raters: int, deviation: float) -> float:
    """Of the 95 % interval of a mean, by Student's t."""
    return float(stats.t.ppf(0.975, raters - 1)) * deviation / math.sqrt(raters)


@dataclass(frozen=True)
class Effort:
    people: int
    """Who pass, at least."""
    paid: int
    """Who take part, where as many fail as in the study that the kind follows: they are paid."""
    cost: float


def effort(study: Study, judgements: int | None = None) -> Effort:
    quota, pay = study.config.quota, study.config.pay
    wanted = quota.judgements if judgements is None else judgements
    people = math.ceil(len(study.units) * wanted / quota.per_person)
    paid = math.ceil(people / study.kind.passing)
    return Effort(people, paid, paid * pay.complete)


def wanted(study: Study, half_width: float, spread: RaterSpread) -> list[dict[str, Any]]:
    """What a wanted half width takes, at the mean spread of a cell and at the 90th percentile."""
    if not 0 < half_width <= 50:
        raise UsageError(
            f"--within {half_width:g} is not a half width. It is a number of points on the scale "
            "from 0 to 100. Write one above 0, up to 50."
        )
    deviations = {"mean spread": spread.within, "90th percentile": spread.wide}
    raters = {of: raters_for(half_width, deviation) for of, deviation in deviations.items()}
    return [
        {"half_width": half_width, "of": of, "raters": count, **asdict(effort(study, count))}
        for of, count in raters.items()
    ]


def warnings_of(study: Study) -> list[str]:
    """What a careful reviewer would ask about before people are invited."""
    config = study.config
    notes = []
    if not config.contact:
        notes.append("Nobody to write to: set `contact` in study.toml.")
    if config.pay.hourly < FAIR_HOURLY:
        notes.append(
            f"The pay is {config.pay.hourly:.2f} {config.pay.currency} per hour. StereoSet and "
            f"CrowS-Pairs paid at least {FAIR_HOURLY:g} dollars."
        )
    if config.panel.name == "prolific" and not config.panel.return_url:
        notes.append("Prolific sends people back with a code: set panel.return_url.")
    if config.panel.name == "open":
        notes.append("The link is open: the same person can come twice. Use `link` to prevent it.")
    if config.pay.left == 0 and config.pay.complete > 0:
        notes.append("Whoever leaves midway gets nothing: set pay.left.")
    return notes


def check_document(
    study: Study, pilot: Path | None = None, within: float | None = None
) -> dict[str, Any]:
    numbers = study.kind.scale == "numbers"
    if not numbers and (pilot is not None or within is not None):
        raise UsageError(
            f"{study.folder} is a {study.kind.name} study. Ratings and intervals are planned for a "
            "survey. Leave out --pilot and --within."
        )
    render_everything(study)
    needed = effort(study)
    document: dict[str, Any] = {
        "schema": "study-check@1",
        "study_kind": study.kind.name,
        "unit_count": len(study.units),
        "judgements": study.config.quota.judgements,
        "people_needed": needed.people,
        "people_paid": needed.paid,
        "cost": needed.cost,
        "currency": study.config.pay.currency,
        "hourly": study.config.pay.hourly,
        "notes": warnings_of(study),
    }
    if numbers:
        spread = spread_of(read_ratings(pilot, names_of(study))) if pilot else PUBLISHED
        document["wanted"] = wanted(study, within or NEAR, spread)
        own = sorted({*RATERS, max(study.config.quota.judgements, 2)})
        document["precision"] = [asdict(precision(n, spread)) for n in own]
    return document


def names_of(study: Study) -> Names:
    """Those that ship, and the study's own."""
    labels = study.cached(survey.read_groups)
    groups = [SocialGroup(name, "", label, label, "") for name, label in labels.items()]
    ours = read_groups(data_file("groups.csv")), read_traits(data_file("traits.csv"))
    return Names((*ours[0], *groups), (*ours[1], *study.cached(survey.read_traits)))


@dataclass(frozen=True)
class RaterAgreement:
    alpha: float | None
    """None where nothing was judged twice, or everybody said the same."""
    majority: float | None
    """Mean share of the largest answer; of labels only."""
    judged: int
    """What was judged at least twice."""


def agreement_of(study: Study, people: Sequence[Participant]) -> RaterAgreement | None:
    """None for a study in which nothing is judged."""
    if study.kind.scale is None:
        return None
    counted = kept(people, study.kind.counts_at_once)
    judged = lists_by_key(chain(*(study.kind.judged(study, each.person) for each in counted)))
    repeated = [answers for answers in judged.values() if len(answers) > 1]
    names = study.kind.scale == "names"
    shares = [max(Counter(answers).values()) / len(answers) for answers in repeated]
    majority = sum(shares) / len(shares) if names and shares else None
    return RaterAgreement(point_alpha(repeated, names), majority, len(repeated))


@dataclass(frozen=True)
class StudyProgress:
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
    raters_agree: RaterAgreement | None
    comments: Sequence[str]

    @property
    def full(self) -> int:
        return sum(count >= self.quota for count in self.places.values())


def progress_of(study: Study, database: Database) -> StudyProgress:
    with database.read() as connection:
        people = everybody(connection)
        version = current(connection)
        taken = places_taken(connection, time.time(), version)
    pay = study.config.pay
    outcomes = Counter(participant.outcome or "working" for participant in people)
    paid = outcomes["complete"] + outcomes["failed"]
    comments = (each.person.answers.get(COMMENTS, {}).get(COMMENTS) for each in people)
    return StudyProgress(
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
