"""How far a model and people put groups and traits in the same order (Cao et al. 2022, 5.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stereometer.findings.align.ratings import MIDDLE, Ratings
from stereometer.shapes.coverage import Coverage
from stereometer.stats.intervals import Floats, resampled_clusters
from stereometer.stats.kendall import tau_b, tau_rows

NO_SCORE = "no score of the model"
HALVES = 1000
TOP = 3
"""Traits at either end whose side people are asked to confirm."""
LEAST_DECIDED = 2 * TOP
"""Traits that must be decided before three at either end are not the same."""


@dataclass(frozen=True)
class Both:
    """The cells that a model and people speak of: groups x traits."""

    groups: tuple[str, ...]
    traits: tuple[str, ...]
    model: Floats
    """NaN where a cell has no score."""
    tables: tuple[Floats, ...]
    """Ratings of each group, raters x traits."""
    raters: tuple[tuple[str, ...], ...]
    """Who gave each row of a table."""

    @cached_property
    def people(self) -> Floats:
        """Means over raters; NaN where nobody rated."""
        with np.errstate(invalid="ignore"):
            return np.array(
                [np.nansum(table, axis=0) / (~np.isnan(table)).sum(axis=0) for table in self.tables]
            )

    def among(
        self, groups: Collection[str] | None = None, traits: Collection[str] | None = None
    ) -> Both:
        rows = [at for at, group in enumerate(self.groups) if groups is None or group in groups]
        columns = [at for at, trait in enumerate(self.traits) if traits is None or trait in traits]
        return Both(
            tuple(self.groups[at] for at in rows),
            tuple(self.traits[at] for at in columns),
            self.model[np.ix_(rows, columns)],
            tuple(self.tables[at][:, columns] for at in rows),
            tuple(self.raters[at] for at in rows),
        )

    @property
    def coverage(self) -> Coverage:
        """How many cells there are, and how many of them have no score."""
        missing = int(np.count_nonzero(np.isnan(self.model)))
        return Coverage(self.model.size, Counter({NO_SCORE: missing} if missing else {}))

    def tau(self) -> float | None:
        """Over all cells together; None where it is not defined, as for fewer than two."""
        there = ~np.isnan(self.model) & ~np.isnan(self.people)
        if np.count_nonzero(there) < 2:
            return None
        tau = float(tau_b(self.model[there], self.people[there]))
        return None if np.isnan(tau) else tau


def both(
    model: Mapping[tuple[str, str], float],
    ratings: Ratings,
    groups: Collection[str] | None = None,
    traits: Collection[str] | None = None,
) -> Both:
    """What is rated among the groups and traits that the model was asked about, scored or not.

    By default all that is rated.
    """
    scores = np.array(
        [
            [model.get((group, trait), np.nan) for trait in ratings.traits]
            for group in ratings.groups
        ]
    ).reshape(len(ratings.groups), len(ratings.traits))
    tables, raters = tuple(ratings.tables.values()), tuple(ratings.raters.values())
    return Both(ratings.groups, ratings.traits, scores, tables, raters).among(groups, traits)


# ------------------------------------------------------------------------------------- raters drawn


def drawn_means(table: Floats, weights: NDArray[np.int64]) -> Floats:
    """Means of raters drawn with these weights: draws x traits; a missing rating has no weight."""
    rated = ~np.isnan(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = (weights @ np.where(rated, table, 0.0)) / (weights @ rated)
    return means


def resampled_people(cells: Both, resamples: int, rng: np.random.Generator) -> Floats:
    """Means of people drawn again, each with all that they rated: resamples x groups x traits.

    NaN where nobody drawn rated a group.
    """
    everybody = list(dict.fromkeys(name for names in cells.raters for name in names))
    at = {name: place for place, name in enumerate(everybody)}
    weights = resampled_clusters(len(everybody), resamples, rng)
    return np.stack(
        [
            drawn_means(table, weights[:, [at[name] for name in names]])
            for table, names in zip(cells.tables, cells.raters, strict=True)
        ],
        axis=1,
    )


def resampled_taus(cells: Both, resamples: int, rng: np.random.Generator) -> Floats:
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
    """Means of two halves of the raters of each group, drawn many times.

    Splits x groups x traits.
    """

    groups: tuple[str, ...]
    traits: tuple[str, ...]
    first: Floats
    second: Floats

    def taus(self, part: Both) -> Floats:
        """tau between the halves, one per split, over the cells of a part that the model scored."""
        rows = [self.groups.index(group) for group in part.groups]
        columns = [self.traits.index(trait) for trait in part.traits]
        there = ~np.isnan(part.model)
        first, second = (
            half[:, rows][:, :, columns][:, there] for half in (self.first, self.second)
        )
        return tau_rows(first, second)


def split_half(cells: Both, rng: np.random.Generator, halves: int = HALVES) -> Halves:
    """Each group's raters divided at random into two halves, `halves` times.

    Of odd numbers the larger half is the second.
    """
    sides = zip(*(_halves(table, halves, rng) for table in cells.tables), strict=True)
    first, second = (np.stack(side, axis=1) for side in sides)
    return Halves(cells.groups, cells.traits, first, second)


def _halves(table: Floats, halves: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    weights = np.tile((np.arange(len(table)) < len(table) // 2).astype(np.int64), (halves, 1))
    weights = rng.permuted(weights, axis=1)
    return drawn_means(table, weights), drawn_means(table, 1 - weights)


# ----------------------------------------------------------------------------------- precision at 3


def ends(model: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The traits with the highest and the lowest scores; ties in the order of the traits."""
    known = np.flatnonzero(~np.isnan(model))
    order = known[np.argsort(-model[known], kind="stable")]
    return order[:TOP], order[::-1][:TOP]


def precision(model: Floats, people: Floats) -> tuple[Floats, Floats]:
    """Of a group, the shares of top and bottom traits that people put on the same side of 50.

    `people` may hold several means of the traits, one per row. Traits that nobody rated do not
    count; NaN where none is left.
    """
    top, bottom = ends(model)
    return _share(people[..., top], people[..., top] > MIDDLE), _share(
        people[..., bottom], people[..., bottom] <= MIDDLE
    )


def _share(people: Floats, right: NDArray[np.bool_]) -> Floats:
    rated = ~np.isnan(people)
    with np.errstate(invalid="ignore"):
        shares: Floats = (right & rated).sum(axis=-1) / rated.sum(axis=-1)
    return shares


def decided_only(model: Floats, decided: NDArray[np.bool_]) -> Floats | None:
    """The scores of traits on which people are decided; None where these are too few."""
    kept = np.where(decided, model, np.nan)
    return kept if np.count_nonzero(~np.isnan(kept)) >= LEAST_DECIDED else None
