"""Choosing templates on a pilot (Cao et al. 2022, section 5.1).

At most two, by tau with few ratings of few groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from stereometer.errors import UsageError
from stereometer.findings.align.agreement import Both, both
from stereometer.findings.align.ratings import Ratings
from stereometer.stats.intervals import generator

GROUPS = ("Asian", "Black", "Hispanic", "immigrant")
RATERS = 5
NEARLY_ALL = 0.9
"""Share of the templates that must have scored a cell.

Also of the pilot's cells that a way must have scored to be chosen.
"""

TemplateScores = Mapping[str, Mapping[tuple[str, str], float]]
"""By template, then by group and trait."""


@dataclass(frozen=True)
class Pilot:
    templates: tuple[str, ...]
    tau: float
    """On the pilot."""
    groups: tuple[str, ...]
    tried: int


def averaged(scores: TemplateScores, templates: Iterable[str]) -> dict[tuple[str, str], float]:
    """The mean over the templates that scored a cell, where nearly all of them did."""
    tables = [scores[template] for template in templates]
    values: dict[tuple[str, str], list[float]] = {}
    for table in tables:
        for cell, value in table.items():
            values.setdefault(cell, []).append(value)
    return {
        cell: sum(known) / len(known)
        for cell, known in values.items()
        if len(known) >= NEARLY_ALL * len(tables)
    }


def pilot_ratings(ratings: Ratings, groups: Sequence[str], seed: int) -> Ratings:
    """Five raters of each pilot group, drawn at random."""
    missing = [group for group in groups if group not in ratings.tables]
    if missing:
        raise UsageError(
            f"The pilot group {missing[0]} has no ratings. A pilot compares ratings with scores. "
            "Name others with --pilot-groups."
        )
    rng = generator(seed, {}, "pilot")
    sizes = {group: len(ratings.tables[group]) for group in groups}
    drawn = {group: rng.choice(n, min(RATERS, n), replace=False) for group, n in sizes.items()}
    return Ratings(
        ratings.traits,
        {group: ratings.tables[group][rows] for group, rows in drawn.items()},
        {group: tuple(ratings.raters[group][row] for row in rows) for group, rows in drawn.items()},
    )


def choose(
    scores: TemplateScores,
    ratings: Ratings,
    groups: Sequence[str] = GROUPS,
    seed: int = 0,
    traits: Collection[str] | None = None,
) -> Pilot:
    """The one or two templates whose mean agrees best with the pilot's ratings.

    Two only where they beat every single one. Ways that left many of the pilot's cells without a
    score do not compete: on a handful of cells some tau is always high.
    """
    few = pilot_ratings(ratings, groups, seed)
    ways = [*((template,) for template in scores), *combinations(scores, 2)]
    taus = [_tau(both(averaged(scores, way), few, traits=traits)) for way in ways]
    known = [(tau, way) for tau, way in zip(taus, ways, strict=True) if tau is not None]
    if not known:
        raise UsageError(
            f"No template has scores for {NEARLY_ALL:.0%} of what was asked about the pilot "
            "groups. A choice on fewer would be luck. "
            "Run the groups, or name others with --pilot-groups."
        )
    best, way = max(known, key=lambda entry: (entry[0], -len(entry[1])))
    return Pilot(way, best, tuple(groups), len(ways))


def _tau(cells: Both) -> float | None:
    coverage = cells.coverage
    return None if coverage.answered < NEARLY_ALL * coverage.count else cells.tau()
