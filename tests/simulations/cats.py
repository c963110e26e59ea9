"""CATs of terms that vary: intervals of icat, equivalence, closeness, differences and shifts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import hypot, sqrt

import numpy as np

from stereometer.core.shapes.differences import Difference
from stereometer.core.shapes.points import Coverage, DrawnUnit, PointSample, Stratum
from stereometer.core.shapes.verdicts import equivalent, narrower
from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.stats.means import StudentMean
from stereometer.core.types import Settings
from stereometer.kinds.cats import differences as changes
from stereometer.kinds.cats.metrics import Averages
from stereometer.kinds.cats.points import KINDS, SAYS, icat

SETTINGS = Settings(resamples=400)
SPREAD, ITEMS = 4.7, 53
"""Of ss over terms, in points, and items a term."""
PLACES = np.array([0, 2, 4, 12, 14, 16])
"""Outcomes without ties: lost and won for ss by none, one and both won for lms."""


@dataclass(frozen=True)
class Truth:
    """A system: what holds of all terms like these, and how much they vary."""

    ss: float = 50.0
    lms: float = 85.0
    spread: float = SPREAD
    lms_spread: float = 3.0

    @property
    def icat(self) -> float:
        return float(icat(np.array(self.lms), np.array(self.ss)))

    def tables(self, rng: np.random.Generator, sets: int, terms: int, items: int = ITEMS) -> Ints:
        """Outcomes: sets x terms x kinds."""
        ss, lms = (
            np.clip(rng.normal(middle, spread, (sets, terms)), 0, 100) / 100
            for middle, spread in ((self.ss, self.spread), (self.lms, self.lms_spread))
        )
        return outcomes(rng, ss, lms, items)


def outcomes(rng: np.random.Generator, ss: Floats, lms: Floats, items: int) -> Ints:
    """Items of terms whose shares these are."""
    by_ss = np.stack([1 - ss, ss], axis=-1)
    by_lms = np.stack([(1 - lms) ** 2, 2 * lms * (1 - lms), lms**2], axis=-1)
    shares = (by_ss[..., :, None] * by_lms[..., None, :]).reshape(*ss.shape, len(PLACES))
    tables = np.zeros((*ss.shape, KINDS), dtype=np.int64)
    tables[..., PLACES] = rng.multinomial(items, shares)
    return tables


def sample(rows: Ints) -> PointSample:
    """Of outcomes without ties."""
    counts = np.zeros((len(rows), *SAYS), dtype=np.int64)
    counts[:, :, 0, 0] = rows
    return tabled(counts)


def tabled(counts: Ints) -> PointSample:
    """A row a term."""
    units = [DrawnUnit(("d", f"t{at}")) for at in range(len(counts))]
    return PointSample({}, units, counts, np.zeros(len(counts), int), Coverage(int(counts.sum())))


def stratum(domain: str, term: str, task: str, outcomes: Ints, refused: int = 0) -> Stratum:
    """Items of a term in a task, without ties."""
    counts = np.zeros(SAYS, dtype=np.int64)
    counts[:, 0, 0] = outcomes
    coverage = Coverage(int(outcomes.sum()) + refused, Counter({"refused": refused}), refused)
    slices = {"task": task, "domain": domain, "target": term}
    return Stratum(slices, DrawnUnit((domain, term)), counts, coverage)


def covered(name: str, true: float, tables: Ints) -> float:
    """How often the interval of an average holds the truth."""
    hits = 0
    for rows in tables:
        low, high, _ = Averages(sample(rows), SETTINGS).spread(name).interval(SETTINGS.level)
        hits += low - 1e-9 <= true <= high + 1e-9
    return hits / len(tables)


def icat_coverage(terms: int, items: int, sets: int, seed: int = 1) -> float:
    """Of a model without a preference, for terms like these."""
    truth = Truth()
    return covered(
        "icat", truth.icat, truth.tables(np.random.default_rng(seed), sets, terms, items)
    )


def fixed_icat_coverage(terms: int, items: int, sets: int, seed: int = 2) -> float:
    """For these terms: their effects are the same in all sets, and leave their mean at 50."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(0, SPREAD, (2, terms))
    ss, lms = (
        np.tile((middle + effect - effect.mean()) / 100, (sets, 1))
        for middle, effect in zip((50.0, 85.0), effects, strict=True)
    )
    return covered("icat", 85.0, outcomes(rng, ss, lms, items))


def t_coverage(name: str, terms: int, sets: int, seed: int = 3) -> float:
    """Of ss or lms of a model with a preference."""
    truth = Truth(ss=58.0)
    true = {"ss": truth.ss, "lms": truth.lms}[name]
    return covered(name, true, truth.tables(np.random.default_rng(seed), sets, terms))


def shown_equivalent(true: float, terms: int, sets: int, seed: int = 4) -> float:
    """How often a model of this ss is said to be within 5 points of 50."""
    shown = 0
    for rows in Truth(ss=true).tables(np.random.default_rng(seed), sets, terms):
        near = Averages(sample(rows), SETTINGS).over_terms("ss").interval(narrower(SETTINGS.level))
        shown += equivalent(near[:2], SETTINGS)
    return shown / sets


# ------------------------------------------------------------------------------------- two systems


def differences(
    first: Truth, second: Truth, terms: int, sets: int, shared: float, seed: int
) -> Iterator[dict[str, Difference]]:
    """Two systems on the same items; `shared` is how far terms have the same effect on both."""
    rng = np.random.default_rng(seed)
    for _ in range(sets):
        common = rng.normal(size=(2, terms))
        shares = []
        for truth in (first, second):
            own = sqrt(shared) * common + sqrt(1 - shared) * rng.normal(size=(2, terms))
            ss = truth.ss + truth.spread * own[0]
            lms = truth.lms + truth.lms_spread * own[1]
            shares.append([np.clip(of, 0, 100) / 100 for of in (ss, lms)])
        tables = joint(rng, shares)
        yield {
            row.name: row
            for row in changes.differences(tabled(tables), int(tables.sum()), SETTINGS)
        }


def joint(rng: np.random.Generator, shares: list[list[Floats]]) -> Ints:
    """Terms x outcomes of the first x outcomes of the second, given its term items vary alone."""
    sides = []
    for ss, lms in shares:
        won = rng.random((ITEMS, len(ss))) < ss
        beaten = (rng.random((2, ITEMS, len(ss))) < lms).sum(axis=0)
        sides.append(12 * won + 2 * beaten)
    tables = np.zeros((len(shares[0][0]), KINDS, KINDS), dtype=np.int64)
    np.add.at(tables, (np.arange(tables.shape[0])[None], sides[0], sides[1]), 1)
    return tables


def claimed_closer(first: float, second: float, sets: int, terms: int = 79) -> float:
    """How often one of two systems is called closer to 50, before correction."""
    rows = differences(Truth(ss=first), Truth(ss=second), terms, sets, 0.0, 5)
    return float(np.mean([(row["ss"].p_closer or 0.0) < 0.05 for row in rows]))


def power_at_detectable(terms: int, sets: int, seed: int = 6) -> float:
    """How often a difference of just the size that is called detectable is found."""
    error = sqrt(2) * hypot(SPREAD, 50 / sqrt(ITEMS)) / sqrt(terms)
    gap = StudentMean(0.0, error, terms - 1).detectable(SETTINGS.level)
    rows = differences(Truth(ss=50 - gap / 2), Truth(ss=50 + gap / 2), terms, sets, 0.0, seed)
    return float(np.mean([row["ss"].p < 0.05 for row in rows]))


def difference_coverage(
    name: str, first: Truth, second: Truth, terms: int, sets: int, shared: float = 0.5
) -> float:
    true = getattr(second, name) - getattr(first, name)
    rows = differences(first, second, terms, sets, shared, 7)
    return float(np.mean([row[name].low <= true <= row[name].high for row in rows]))


def same_icat(ss: float, like: Truth) -> Truth:
    """A system of another ss whose icat is that of `like`."""
    return replace(like, ss=ss, lms=50 * like.icat / min(ss, 100 - ss))


def icat_size(first: Truth, second: Truth, terms: int, sets: int, shared: float) -> float:
    """How often two systems of the same icat are said to differ."""
    rows = differences(first, second, terms, sets, shared, 8)
    return float(np.mean([row["icat"].p < 0.05 for row in rows]))


def shift_coverage(name: str, terms: int, sets: int, seed: int = 9) -> float:
    """A third of the items are left out, of which the model prefers the stereotype more often."""
    rng = np.random.default_rng(seed)
    kept, rest = Truth(ss=52.0, lms=88.0), Truth(ss=62.0, lms=80.0)
    parts = [truth.tables(rng, sets, terms, items) for truth, items in ((rest, 18), (kept, 35))]
    true = {"ss": 52.0 - (52.0 * 35 + 62.0 * 18) / 53, "lms": 88.0 - (88.0 * 35 + 80.0 * 18) / 53}
    hits = 0
    for rows in np.concatenate(parts, axis=-1):
        row = next(row for row in changes.shifts(tabled(rows), SETTINGS) if row.name == name)
        hits += (row.low or 0.0) <= true[name] <= (row.high or 0.0)
    return hits / sets
