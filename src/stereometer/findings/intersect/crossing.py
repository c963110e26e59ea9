"""Scores of groups and of pairs of groups, laid out for what Cao et al. 2022 (5.2) ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from stereometer.benchmarks.abc.groups import Group
from stereometer.benchmarks.abc.traits import POLES, Trait
from stereometer.stats.intervals import Floats, resampled_clusters
from stereometer.stats.kendall import tau_rows
from stereometer.types import Score

CHUNK = 500
"""Resamples whose weights of pairs are held at once."""


@dataclass(frozen=True)
class Crossing:
    """Single groups, pairs of them, and what each template gives both."""

    groups: tuple[Group, ...]
    pairs: tuple[Group, ...]
    traits: tuple[Trait, ...]
    single: Floats
    """Templates x groups x traits x poles; NaN where there is no score."""
    paired: Floats
    """Templates x pairs x traits x poles."""

    @property
    def digest(self) -> str:
        """Of all scores."""
        return sha256(self.single.tobytes() + self.paired.tobytes()).hexdigest()

    @cached_property
    def parts(self) -> NDArray[np.intp]:
        """Of each pair, the places of its first and second part among the groups."""
        at = {group.name: index for index, group in enumerate(self.groups)}
        return np.array(
            [[at[part] for part in pair.parts] for pair in self.pairs], dtype=np.intp
        ).reshape(-1, 2)

    @cached_property
    def reversed(self) -> NDArray[np.intp]:
        """Of each pair, the place of the same groups the other way round.

        -1 where grammar has none.
        """
        at = {pair.parts: index for index, pair in enumerate(self.pairs)}
        return np.array(
            [at.get((pair.parts[1], pair.parts[0]), -1) for pair in self.pairs], dtype=np.intp
        )

    @cached_property
    def profiles(self) -> tuple[Floats, Floats]:
        """Right pole less left, averaged over templates: of the groups and of the pairs."""
        return _profile(self.single), _profile(self.paired)

    @cached_property
    def taus(self) -> Floats:
        """Of each pair with its first and with its second part."""
        single, paired = self.profiles
        return np.stack([tau_rows(paired, single[self.parts[:, side]]) for side in (0, 1)], axis=-1)

    @cached_property
    def reversed_taus(self) -> Floats:
        """Of each pair with the same the other way round; NaN where there is none."""
        paired = self.profiles[1]
        taus = np.full(len(self.pairs), np.nan)
        both = np.flatnonzero(self.reversed >= 0)
        if both.size:
            taus[both] = tau_rows(paired[both], paired[self.reversed[both]])
        return taus


def _profile(scores: Floats) -> Floats:
    leaning = scores[..., 1] - scores[..., 0]
    there = ~np.isnan(leaning)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(there, leaning, 0.0).sum(axis=0) / there.sum(axis=0)
    return means


def crossing(
    scores: Iterable[Score],
    groups: Sequence[Group],
    pairs: Sequence[Group],
    traits: Sequence[Trait],
) -> Crossing:
    """From the scores of one run over groups and pairs."""
    rows = {group.name: index for index, group in enumerate((*groups, *pairs))}
    columns = {trait.name: index for index, trait in enumerate(traits)}
    tables: dict[str, Floats] = {}
    for score in scores:
        table = tables.setdefault(
            score.slices["template"], np.full((len(rows), len(columns), len(POLES)), np.nan)
        )
        if score.skipped is None:
            table[rows[score.slices["group"]], columns[score.slices["trait"]]] = [
                score.values[pole] for pole in POLES
            ]
    whole = np.stack(list(tables.values()))
    return Crossing(
        tuple(groups), tuple(pairs), tuple(traits), whole[:, : len(groups)], whole[:, len(groups) :]
    )


def drawn_weights(table: Crossing, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How much each pair weighs when groups are drawn again: the product of its parts' weights.

    A chunk of resamples at a time.
    """
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        drawn = resampled_clusters(len(table.groups), size, rng).astype(np.float64)
        yield drawn[:, table.parts[:, 0]] * drawn[:, table.parts[:, 1]]


def resampled_means(
    table: Crossing, values: Mapping[str, Floats], resamples: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Means of values of the pairs, NaN left out, when groups are drawn again; NaN if undefined."""
    drawn: dict[str, list[Floats]] = {name: [] for name in values}
    for weights in drawn_weights(table, resamples, rng):
        for name, row in values.items():
            there = ~np.isnan(row)
            total = weights[:, there].sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                drawn[name].append((weights[:, there] @ row[there]) / total)
    return {name: np.concatenate(parts) for name, parts in drawn.items()}
