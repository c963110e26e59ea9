"""Traits that emerge where two groups meet.

A pair's score is above the larger, or below the smaller, of its parts'. Scores are averaged over
templates first. The test is against each part by itself, and both must be beaten: were the pair no
further than a part, the sign of their difference in each template would be a matter of chance. The
larger of the two p counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stereometer.benchmarks.abc.traits import POLES
from stereometer.findings.intersect.crossing import Crossing
from stereometer.shapes.intersection import ENUMERABLE, FLIPS
from stereometer.stats.intervals import Floats
from stereometer.stats.tests import false_discovery

CELLS = 2048
"""Cells tested at once."""
DIRECTIONS = ("above", "below")


@dataclass(frozen=True)
class Emergent:
    """A pair and an adjective, and how far the pair is beyond its parts."""

    pair: int
    trait: int
    pole: int
    direction: str
    increase: float
    """Positive where the pair is beyond both parts."""
    part: float
    """The larger part's score (`above`), or the smaller part's (`below`)."""
    p: float
    q: float
    """p with the false-discovery rate controlled over all cells of the direction."""
    templates: int


def beyond(pair: Floats, first: Floats, second: Floats, direction: str) -> Floats:
    """How far `pair` is beyond both: above the larger, or below the smaller."""
    if direction == "above":
        return pair - np.maximum(first, second)
    return np.minimum(first, second) - pair


def emergent(table: Crossing, direction: str, rng: np.random.Generator) -> list[Emergent]:
    """Every pair and adjective with a score in every template, largest increase first."""
    pair, first, second = _cells(table)
    keep = ~(np.isnan(pair) | np.isnan(first) | np.isnan(second)).any(axis=0)
    places = np.flatnonzero(keep)
    pair, first, second = pair[:, keep], first[:, keep], second[:, keep]
    if not places.size:
        return []
    means = pair.mean(axis=0), first.mean(axis=0), second.mean(axis=0)
    increase = beyond(*means, direction)
    parts = (np.maximum if direction == "above" else np.minimum)(*means[1:])
    p = beyond_both_p(pair, first, second, direction, rng)
    q = false_discovery(p)
    pairs, traits, poles = np.unravel_index(
        places, (len(table.pairs), len(table.traits), len(POLES))
    )
    return [
        Emergent(
            int(pairs[at]),
            int(traits[at]),
            int(poles[at]),
            direction,
            float(increase[at]),
            float(parts[at]),
            float(p[at]),
            float(q[at]),
            len(pair),
        )
        for at in np.argsort(-increase, kind="stable")
    ]


def _cells(table: Crossing) -> tuple[Floats, Floats, Floats]:
    """Of every pair, trait and pole in each template: the pair's score and its parts'."""
    templates = len(table.paired)
    parts = [table.single[:, table.parts[:, side]].reshape(templates, -1) for side in (0, 1)]
    return table.paired.reshape(templates, -1), parts[0], parts[1]


def beyond_both_p(
    pair: Floats, first: Floats, second: Floats, direction: str, rng: np.random.Generator
) -> Floats:
    """One-sided p of each column (rows are templates) that the pair is beyond both parts."""
    sign = 1.0 if direction == "above" else -1.0
    signs = _signs(len(pair), rng)
    return np.maximum(
        sign_flip_p(sign * (pair - first), signs), sign_flip_p(sign * (pair - second), signs)
    )


def sign_flip_p(differences: Floats, signs: Floats) -> Floats:
    """How often each column's sum is reached when the signs of its rows are chosen by chance."""
    p = np.empty(differences.shape[1])
    for start in range(0, differences.shape[1], CELLS):
        cells = differences[:, start : start + CELLS]
        reached = cells.sum(axis=0) - 1e-9
        p[start : start + CELLS] = (signs @ cells >= reached).mean(axis=0)
    return p


def _signs(templates: int, rng: np.random.Generator) -> Floats:
    """Every choice of signs, or the true one and others drawn by lot."""
    if templates <= ENUMERABLE:
        return np.stack(np.meshgrid(*[(1.0, -1.0)] * templates, indexing="ij"), axis=-1).reshape(
            -1, templates
        )
    return np.concatenate(
        [np.ones((1, templates)), rng.choice([1.0, -1.0], size=(FLIPS, templates))]
    )
