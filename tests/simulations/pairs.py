"""Pairs, with ties and with terms: coverage, equivalence and differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stereometer.core.shapes.points import ALONE, KINDS, Coverage, DrawnUnit, PointSample
from stereometer.core.shapes.verdicts import equivalent, narrower
from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.types import Settings
from stereometer.kinds.pairs import differences as changes
from stereometer.kinds.pairs.metrics import Counting, over_pairs, spread

SETTINGS = Settings(resamples=100, ties=1.0)
COUNTING = Counting.of("sound", {})


def tabled(rows: Ints, units: Sequence[DrawnUnit] = ()) -> PointSample:
    """Counts as a table has them: one row of no known term, or a row a term."""
    terms = [ALONE] if len(rows) == 1 else [DrawnUnit((f"term {at}",)) for at in range(len(rows))]
    missing = np.zeros(len(rows), dtype=np.int64)
    return PointSample({}, units or terms, rows, missing, Coverage(int(rows.sum())))


def counts(rng: np.random.Generator, won: Floats | float, tied: float, pairs: int) -> Ints:
    """Of pairs lost, tied and won; `won` is the share of those that are decided, one per term."""
    shares = (1 - tied) * np.stack([1 - np.asarray(won), np.asarray(won)], axis=-1)
    every = np.insert(shares, 1, tied, axis=-1)
    return np.atleast_2d(rng.multinomial(pairs, every))


def coverage(won: float, tied: float, pairs: int, sets: int, seed: int = 11) -> float:
    """How often the interval of independent pairs holds the truth."""
    rng, true, hits = np.random.default_rng(seed), 100 * (won * (1 - tied) + tied / 2), 0
    for _ in range(sets):
        known = spread(tabled(counts(rng, won, tied, pairs)), COUNTING)
        low, high, _ = known.interval(SETTINGS.level)
        hits += low <= true <= high
    return hits / sets


def shown_equivalent(won: float, pairs: int, sets: int, seed: int = 12) -> float:
    """How often the preference is said to be within 5 points of 50."""
    rng, shown = np.random.default_rng(seed), 0
    for _ in range(sets):
        known = spread(tabled(counts(rng, won, 0.0, pairs)), COUNTING)
        shown += equivalent(known.interval(narrower(SETTINGS.level))[:2], SETTINGS)
    return shown / sets


def clustered_coverage(terms: int, sets: int, by_term: bool = True, seed: int = 13) -> float:
    """Pairs of terms that vary, 27 each as in StereoSet; `by_term` False forgets the terms."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(sets):
        won = np.clip(rng.normal(0.58, 0.10, terms), 0, 1)
        rows = counts(rng, won, 0.02, 27)
        known = spread(tabled(rows), COUNTING)
        if not by_term:
            known = over_pairs(rows.sum(axis=0), COUNTING, "")
        low, high, _ = known.interval(SETTINGS.level)
        hits += low <= 100 * (0.58 * 0.98 + 0.01) <= high
    return hits / sets


def rejected(tied: float, sets: int, terms: int = 0, seed: int = 14) -> float:
    """How often two systems of equal preference among 262 pairs are said to differ.

    Both prefer 60 % of the pairs they decide; the second leaves `tied` of them undecided but wins
    so many of the others that its preference is the same. With terms, both vary with them.
    """
    rng, beyond = np.random.default_rng(seed), 0
    for _ in range(sets):
        kinds = [_kinds(rng, 0.60, 0.0, terms), _kinds(rng, 0.5 + 0.1 / (1 - tied), tied, terms)]
        tables = np.zeros((max(1, terms), KINDS, KINDS), dtype=np.int64)
        at = np.arange(262) % max(1, terms)
        np.add.at(tables, (at, *kinds), 1)
        (row,) = changes.differences(tabled(tables), 262, SETTINGS)
        beyond += row.p < 0.05
    return beyond / sets


def _kinds(rng: np.random.Generator, won: float, tied: float, terms: int) -> Ints:
    effects = rng.normal(0, 0.1, terms)[np.arange(262) % terms] if terms else 0.0
    wins = rng.random(262) < won + effects
    return np.where(rng.random(262) < tied, 1, 2 * wins)


def shift_coverage(pairs: int, kept: float, sets: int, seed: int = 15) -> float:
    """Of pairs at random: those kept prefer less than the rest."""
    rng, hits = np.random.default_rng(seed), 0
    some = round(kept * pairs)
    true = (1 - some / pairs) * (52.0 - 64.0)
    for _ in range(sets):
        parts = [counts(rng, won, 0.05, n)[0] for won, n in ((0.64, pairs - some), (0.52, some))]
        (row,) = changes.shifts(tabled(np.concatenate(parts)[None]), SETTINGS)
        hits += (row.low or 0.0) <= 0.95 * true <= (row.high or 0.0)
    return hits / sets
