"""How far a model and people put groups and traits in the same order (Cao et al. 2022, 5.1),
whether it tells groups apart as people do, and templates chosen on a pilot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from stereometer.core.errors import UsageError
from stereometer.core.shapes.points import Coverage
from stereometer.core.stats.intervals import Floats, generator, resampled_clusters
from stereometer.core.stats.means import known_means, weighted_means
from stereometer.core.stats.ranks import orders, tau_rows
from stereometer.core.types import Slice
from stereometer.kinds.traits.align.ratings import MIDDLE, Ratings

NO_SCORE = "no score of the model"
HALVES = 1000
TOP = 3
"""Traits at either end whose side people are asked to confirm."""
LEAST_DECIDED = 2 * TOP
"""Traits that must be decided before three at either end are not the same."""


@dataclass(frozen=True)
class RatedCells:
    """The cells that a model and people speak of: groups x traits."""

    groups: tuple[str, ...]
    traits: tuple[str, ...]
    model: Floats
    """NaN where a cell has no score."""
    tables: tuple[Floats, ...]
    """Ratings of each group, raters x traits."""
    raters: tuple[tuple[str, ...], ...]
    """Who gave each row of a table."""
    slice: Slice = field(default_factory=dict)
    """What they are reported under."""

    @cached_property
    def people(self) -> Floats:
        """Means over raters; NaN where nobody rated."""
        return np.array([known_means(table, 0) for table in self.tables])

    def among(
        self,
        groups: Collection[str] | None = None,
        traits: Collection[str] | None = None,
        of: Slice | None = None,
    ) -> RatedCells:
        """Those of some groups and traits, by default of all."""
        rows = [at for at, group in enumerate(self.groups) if groups is None or group in groups]
        columns = [at for at, trait in enumerate(self.traits) if traits is None or trait in traits]
        return RatedCells(
            tuple(self.groups[at] for at in rows),
            tuple(self.traits[at] for at in columns),
            self.model[np.ix_(rows, columns)],
            tuple(self.tables[at][:, columns] for at in rows),
            tuple(self.raters[at] for at in rows),
            of or {},
        )

    @property
    def coverage(self) -> Coverage:
        """How many cells there are, and how many of them have no score."""
        missing = int(np.count_nonzero(np.isnan(self.model)))
        return Coverage(self.model.size, Counter({NO_SCORE: missing} if missing else {}))

    def tau(self) -> float | None:
        """Over all cells together; None where it is not defined, as for fewer than two."""
        (tau,) = tau_rows(self.model.reshape(1, -1), self.people.reshape(1, -1))
        return None if np.isnan(tau) else float(tau)


def both(
    model: Mapping[tuple[str, str], float],
    ratings: Ratings,
    groups: Collection[str] | None = None,
    traits: Collection[str] | None = None,
) -> RatedCells:
    """What is rated among the groups and traits that the model was asked about, scored or not. By
    default all that is rated."""
    scores = [model.get(cell, np.nan) for cell in product(ratings.groups, ratings.traits)]
    table = np.array(scores).reshape(len(ratings.groups), len(ratings.traits))
    tables, raters = tuple(ratings.tables.values()), tuple(ratings.raters.values())
    return RatedCells(ratings.groups, ratings.traits, table, tables, raters).among(groups, traits)


# ------------------------------------------------------------------------------------- raters drawn


def resampled_people(cells: RatedCells, resamples: int, rng: np.random.Generator) -> Floats:
    """Means of people drawn again, each with all that they rated: resamples x groups x traits. NaN
    where nobody drawn rated a group."""
    everybody = list(dict.fromkeys(name for names in cells.raters for name in names))
    at = {name: place for place, name in enumerate(everybody)}
    weights = resampled_clusters(len(everybody), resamples, rng)
    drawn = []
    for table, names in zip(cells.tables, cells.raters, strict=True):
        drawn.append(weighted_means(table, weights[:, [at[name] for name in names]]))
    return np.stack(drawn, axis=1)


def resampled_taus(cells: RatedCells, resamples: int, rng: np.random.Generator) -> Floats:
    """tau over all cells that the model scored, with groups drawn again and people drawn again;
    without draws that have none. A single group is always drawn."""
    people = resampled_people(cells, resamples, rng)
    count = len(cells.groups)
    drawn = rng.integers(0, count, size=(resamples, count))
    people = np.take_along_axis(people, drawn[:, :, None], axis=1).reshape(resamples, -1)
    model = cells.model[drawn].reshape(resamples, -1)
    taus = tau_rows(model, people)
    return taus[~np.isnan(taus)]


# --------------------------------------------------------------------------------------- split half


@dataclass(frozen=True)
class Halves:
    """Means of two halves of the raters of each group, drawn many times. Splits x groups x
    traits."""

    groups: tuple[str, ...]
    traits: tuple[str, ...]
    first: Floats
    second: Floats

    def taus(self, part: RatedCells) -> Floats:
        """tau between the halves, one per split, over the cells of a part that the model scored."""
        rows = [self.groups.index(group) for group in part.groups]
        columns = [self.traits.index(trait) for trait in part.traits]
        there = ~np.isnan(part.model)
        first, second = (
            half[:, rows][:, :, columns][:, there] for half in (self.first, self.second)
        )
        return tau_rows(first, second)


def split_half(cells: RatedCells, rng: np.random.Generator, halves: int = HALVES) -> Halves:
    """Each group's raters divided at random into two halves, `halves` times. Of odd numbers the
    larger half is the second."""
    sides = zip(*(_halves(table, halves, rng) for table in cells.tables), strict=True)
    first, second = (np.stack(side, axis=1) for side in sides)
    return Halves(cells.groups, cells.traits, first, second)


def _halves(table: Floats, halves: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means over one half of the raters of a group, and over the other, a row per split."""
    weights = np.tile((np.arange(len(table)) < len(table) // 2).astype(np.int64), (halves, 1))
    weights = rng.permuted(weights, axis=1)
    return weighted_means(table, weights), weighted_means(table, 1 - weights)


# ----------------------------------------------------------------------------------- precision at 3


def ends(model: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The traits with the highest and the lowest scores; ties in the order of the traits."""
    known = np.flatnonzero(~np.isnan(model))
    order = known[np.argsort(-model[known], kind="stable")]
    return order[:TOP], order[::-1][:TOP]


def precision(model: Floats, people: Floats) -> tuple[Floats, Floats]:
    """Of a group, the shares of top and bottom traits that people put on the same side of 50.
    `people` may hold several means of the traits, one per row. Traits that nobody rated do not
    count; NaN where none is left."""
    top, bottom = ends(model)
    above = np.where(np.isnan(people), np.nan, people > MIDDLE)
    return known_means(above[..., top], -1), known_means(1 - above[..., bottom], -1)


def enough(scores: Floats) -> Floats | None:
    """The scores of a group, None where they are of too few traits."""
    return scores if np.count_nonzero(~np.isnan(scores)) >= LEAST_DECIDED else None


ORDERS = 2000
"""Orders drawn where there are more than these."""
TEST = "the model's groups exchanged, two-sided about the mean"
ROUNDING = 1e-12


@dataclass(frozen=True)
class Exchanged:
    """What tau is when each group gets another group's scores."""

    p: float
    """The share of orders of groups with a tau as far from the mean as the model's own."""
    mean: float
    """What is left without knowing one group from another: traits that all groups share."""


def exchanged(cells: RatedCells, rng: np.random.Generator) -> Exchanged:
    every = orders(len(cells.groups), ORDERS, ORDERS, rng)
    model = cells.model[every].reshape(len(every), -1)
    taus = tau_rows(model, np.broadcast_to(cells.people.reshape(-1), model.shape))
    mean = float(np.nanmean(taus))
    away = np.abs(taus[~np.isnan(taus)] - mean)
    return Exchanged(float(np.mean(away >= abs(taus[0] - mean) - ROUNDING)), mean)


GROUPS = ("Asian", "Black", "Hispanic", "immigrant")
RATERS = 5
NEARLY_ALL = 0.9
"""Share of the templates that must have scored a cell. Also of the pilot's cells that a way must
have scored to be chosen."""

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
    cells = dict.fromkeys(cell for table in tables for cell in table)
    values = {cell: [table[cell] for table in tables if cell in table] for cell in cells}
    enough = NEARLY_ALL * len(tables)
    return {cell: sum(of) / len(of) for cell, of in values.items() if len(of) >= enough}


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
    return ratings.rows(
        {group: rng.choice(n, min(RATERS, n), replace=False) for group, n in sizes.items()}
    )


def choose(
    scores: TemplateScores,
    ratings: Ratings,
    groups: Sequence[str] = GROUPS,
    seed: int = 0,
    traits: Collection[str] | None = None,
) -> Pilot:
    """The one or two templates whose mean agrees best with the pilot's ratings. Two only where they
    beat every single one. Ways that left many of the pilot's cells without a score do not compete:
    on a handful of cells some tau is always high."""
    few = pilot_ratings(ratings, groups, seed)
    ways = [*combinations(scores, 1), *combinations(scores, 2)]
    known: list[tuple[float, tuple[str, ...]]] = []
    for way in ways:
        cells = both(averaged(scores, way), few, traits=traits)
        coverage, tau = cells.coverage, cells.tau()
        if tau is not None and coverage.answered >= NEARLY_ALL * coverage.count:
            known.append((tau, way))
    if not known:
        raise UsageError(
            f"No template has scores for {NEARLY_ALL:.0%} of what was asked about the pilot "
            "groups. A choice on fewer would be luck. "
            "Run the groups, or name others with --pilot-groups."
        )
    best, way = max(known, key=lambda entry: (entry[0], -len(entry[1])))
    return Pilot(way, best, tuple(groups), len(ways))
