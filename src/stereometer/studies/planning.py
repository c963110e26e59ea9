"""study check: what is missing, how many people it takes, what it costs, what it can show.

For a survey: from the spread of ratings within and between cells, how wide the interval of a mean
gets with n raters a group, and which agreement (Kendall's tau) is to be expected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from stereometer.benchmarks.abc.groups import Group, read_groups
from stereometer.benchmarks.abc.items import data_file
from stereometer.benchmarks.abc.traits import Trait, read_traits
from stereometer.findings.align.names import Names
from stereometer.findings.align.ratings import Ratings, read_ratings
from stereometer.studies.study import Study

SPREAD = 21.87
"""Standard deviation of ratings within a cell, mean over the cells of the ABC ratings."""
SINGLE_RATER = 0.3516
"""Reliability of one rater there: the variance between cells over all variance."""
RATERS = (5, 10, 20, 40, 80)
FAIR_HOURLY = 15.0
"""What StereoSet and CrowS-Pairs paid at least, in dollars."""


@dataclass(frozen=True)
class Precision:
    """What a number of passing raters a group gives."""

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
class Spread:
    within: float
    single_rater: float


PUBLISHED = Spread(SPREAD, SINGLE_RATER)


def spread_of(ratings: Ratings) -> Spread:
    """Of a pilot or of released ratings: within cells, and of one rater's view."""
    columns = [column[~np.isnan(column)] for table in ratings.tables.values() for column in table.T]
    within = float(np.mean([column.std(ddof=1) for column in columns]))
    error = float(np.mean([column.var(ddof=1) for column in columns]))
    raters = float(np.mean([column.size for column in columns]))
    means = np.array([column.mean() for column in columns])
    between = max(float(means.var(ddof=1)) - error / raters, 0.0)
    return Spread(within, between / (between + error))


def precision(raters: int, spread: Spread = PUBLISHED) -> Precision:
    return Precision(
        raters,
        float(stats.t.ppf(0.975, raters - 1)) * spread.within / math.sqrt(raters),
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


def raters_for(half_width: float, spread: float = SPREAD) -> int:
    """The fewest raters whose mean has an interval of at most that half width."""
    raters = 2
    while float(stats.t.ppf(0.975, raters - 1)) * spread / math.sqrt(raters) > half_width:
        raters += 1
    return raters


# ----------------------------------------------------------------------------------- what it takes


@dataclass(frozen=True)
class Effort:
    people: int
    """Who pass, at least."""
    cost: float
    hourly: float


def effort(study: Study) -> Effort:
    quota, pay = study.config.quota, study.config.pay
    people = math.ceil(len(study.units) * quota.judgements / quota.per_person)
    return Effort(people, people * pay.complete, 60 * pay.complete / pay.minutes)


def warnings_of(study: Study) -> list[str]:
    """What a careful reviewer would ask about before people are invited."""
    config = study.config
    notes = []
    if not config.contact:
        notes.append("Nobody to write to: set `contact` in study.toml.")
    if effort(study).hourly < FAIR_HOURLY:
        notes.append(
            f"The pay is {effort(study).hourly:.2f} {config.pay.currency} an hour. StereoSet and "
            f"CrowS-Pairs paid at least {FAIR_HOURLY:g} dollars."
        )
    if config.panel.name == "prolific" and not config.panel.return_url:
        notes.append("Prolific sends people back with a code: set panel.return_url.")
    if config.panel.name == "open":
        notes.append("The link is open: the same person can come twice. Use `link` to prevent it.")
    if config.pay.left == 0 and config.pay.complete > 0:
        notes.append("Whoever leaves midway gets nothing: set pay.left.")
    return notes


def check_document(study: Study, pilot: Path | None = None) -> dict[str, Any]:
    needed = effort(study)
    spread = spread_of(read_ratings(pilot, Names(*_vocabulary()))) if pilot else PUBLISHED
    document: dict[str, Any] = {
        "schema": "study-check@1",
        "study_kind": study.kind.name,
        "unit_count": len(study.units),
        "judgements": study.config.quota.judgements,
        "people_needed": needed.people,
        "cost": needed.cost,
        "currency": study.config.pay.currency,
        "hourly": needed.hourly,
        "notes": warnings_of(study),
    }
    if study.kind.scale == "numbers":
        own = sorted({*RATERS, max(study.config.quota.judgements, 2)})
        document["precision"] = [asdict(precision(n, spread)) for n in own]
    return document


def _vocabulary() -> tuple[Sequence[Group], Sequence[Trait]]:
    return read_groups(data_file("groups.csv")), read_traits(data_file("traits.csv"))
