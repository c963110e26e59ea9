"""Traits that emerge where two groups meet: a pair's score above the larger, or below the smaller, of its parts'.

The test: were the pair nothing more than its parts, the three scores of a template could change places. Each template's three
scores are put in every order, and the mean difference over templates is held against all of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stereometer.alignment.crossing import Crossing
from stereometer.benchmarks.abc.traits import POLES
from stereometer.stats.intervals import Floats

ENUMERABLE = 7
"""Templates up to which all 3^k exchanges are tried: 2,187."""
EXCHANGES = 2000
"""Random ones, above."""
CELLS = 4096
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


def beyond(pair: Floats, one: Floats, other: Floats, direction: str) -> Floats:
    """How far `pair` is beyond both: above the larger, or below the smaller."""
    return pair - np.maximum(one, other) if direction == "above" else np.minimum(one, other) - pair


def emergent(found: Crossing, direction: str, rng: np.random.Generator) -> list[Emergent]:
    """Every pair and adjective with a score in every template, largest increase first."""
    pair, first, second = _cells(found)
    keep = ~(np.isnan(pair) | np.isnan(first) | np.isnan(second)).any(axis=0)
    places = np.flatnonzero(keep)
    pair, first, second = pair[:, keep], first[:, keep], second[:, keep]
    if not places.size:
        return []
    increase = beyond(pair, first, second, direction).mean(axis=0)
    parts = (np.maximum if direction == "above" else np.minimum)(first, second).mean(axis=0)
    p = exchange_p(pair, first, second, direction, rng)
    q = false_discovery(p)
    pairs, traits, poles = np.unravel_index(places, (len(found.pairs), len(found.traits), len(POLES)))
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


def _cells(found: Crossing) -> tuple[Floats, Floats, Floats]:
    """Of every pair, trait and pole in each template: the pair's score and its parts'."""
    templates = len(found.paired)
    parts = [found.single[:, found.parts[:, side]].reshape(templates, -1) for side in (0, 1)]
    return found.paired.reshape(templates, -1), parts[0], parts[1]


def exchange_p(pair: Floats, first: Floats, second: Floats, direction: str, rng: np.random.Generator) -> Floats:
    """One-sided p of each column (rows are templates) under exchanges of the three scores within templates."""
    templates = len(pair)
    roles = np.stack(
        [beyond(pair, first, second, direction), beyond(first, pair, second, direction), beyond(second, pair, first, direction)]
    )
    choices = _choices(templates, rng)
    found = np.empty(pair.shape[1])
    for start in range(0, pair.shape[1], CELLS):
        some = roles[:, :, start : start + CELLS]
        sums = np.zeros((len(choices), some.shape[2]))
        for template in range(templates):
            sums += some[choices[:, template], template]
        reached = some[0].sum(axis=0) - 1e-9
        beyond_it = (sums >= reached).sum(axis=0)
        found[start : start + CELLS] = beyond_it / len(choices) if templates <= ENUMERABLE else (beyond_it + 1) / (len(choices) + 1)
    return found


def _choices(templates: int, rng: np.random.Generator) -> np.ndarray:
    """Which of the three is called the pair, in each template: every way, or some drawn by lot."""
    if templates <= ENUMERABLE:
        return np.stack(np.meshgrid(*[range(3)] * templates, indexing="ij"), axis=-1).reshape(-1, templates)
    return rng.integers(0, 3, size=(EXCHANGES, templates))


def false_discovery(p: Floats | Sequence[float]) -> Floats:
    """Benjamini and Hochberg's adjusted p, in the order given."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values)[::-1]
    ranks = np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(values[order] * values.size / ranks))
    return adjusted
