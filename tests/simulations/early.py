"""Runs that stop when a bar is decided, looked at after every item or term: how often they decide,
on which side, and how much they ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import stdtrit

from stereometer.core import catalog
from stereometer.core.gate.bars import BarRule, read_bar
from stereometer.core.gate.early_stop import Until
from stereometer.core.stats.anytime import LEAST, Betting, largest_t
from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.types import Score, Settings
from stereometer.kinds.pairs.items import Pair
from tests.builders.sure import sure
from tests.simulations.cats import ITEMS, SPREAD

ENOUGH = 20.0
"""1 / error, of bars on the value of a set, and of both sides of Student's t."""
A_SIDE = 40.0
"""1 / error, of each side of a bar on an interval."""
AT_ONCE = 2000
"""Sets that are held in memory together."""


Sided = tuple[Ints, Ints]
"""On which side each set was decided, and after how many."""


@dataclass(frozen=True)
class Stopped:
    """Shares of sets that said above and below before the end, and the mean share asked."""

    above: float
    below: float
    asked: float


def _stopped(sides: Ints, times: Ints, whole: int) -> Stopped:
    above, below = (float(np.mean(sides == side)) for side in (1, -1))
    return Stopped(above, below, float(np.mean(times) / whole))


def items(won: float, of: int, bar: float, sets: int, tied: float = 0.0) -> Stopped:
    """Pairs in random order, without replacement, of which a share is won; before the last one."""
    wins, ties = round((won - tied / 2) * of), round(tied * of)
    values = np.repeat([1.0, 0.5, 0.0], [wins, ties, of - wins - ties])
    return betting(values[None], bar, sets)


def alike(won: float, of: int, bar: float, sets: int) -> Stopped:
    """Pairs of an unlimited population, of which a share is won; at most so many are asked."""
    drawn = (np.random.default_rng(4).random((sets, of)) < won).astype(float)
    return _stopped(*_bets(drawn, bar, A_SIDE), of)


def bounded_terms(
    true: float, spread: float, sets: int, terms: int = 79, of: int = ITEMS
) -> Stopped:
    """Terms whose means lie near an end of the scale, as lms does; the bar is where they lie."""
    rng = np.random.default_rng(6)
    weight = true * (1 - true) / spread**2 - 1
    shares = rng.beta(true * weight, (1 - true) * weight, (sets, terms))
    return _stopped(*_bets(rng.binomial(of, shares) / of, true, A_SIDE), terms)


# ------------------------------------------------------------------------------------- as printed

SHAPE = catalog.shape("pair")


def pairs_of(sizes: Sequence[int]) -> list[Pair]:
    """Pairs of no known term; a size above one is a text that occurs so often."""
    return [
        Pair(f"{at:04}-{copy}", f"more {at}", f"less {at}", "age")
        for at, size in enumerate(sizes)
        for copy in range(size)
    ]


@dataclass(frozen=True)
class Printed:
    """In what share of runs a preference is printed, or the bar is said to be met, or missed; and
    the mean share asked."""

    prefers: float
    met: float
    missed: float
    asked: float


def printed(won: float, sizes: Sequence[int], bar: str, sets: int, tied: float = 0.0) -> Printed:
    """Runs until a bar on pairs is decided; copies of a text get the same answer."""
    rng, items, rule, seen = np.random.default_rng(7), pairs_of(sizes), BarRule(read_bar(bar)), []
    for seed in range(sets):
        until = Until(items, [rule], SHAPE, Settings(seed=seed, resamples=100))
        kinds = np.where(rng.random(len(sizes)) < tied, 0.0, np.sign(won - rng.random(len(sizes))))
        for block in until.blocks():
            for item in block:
                side = float(kinds[int(item.id[:4])])
                until.add(Score(item.id, item.slices, _values(side), None, item.texts))
        seen.append((*_row(until, rule), len(until.scores) / len(items)))
    return Printed(*(float(share) for share in np.mean(seen, axis=0)))


def _values(side: float) -> dict[str, float]:
    return {"sent_more": side, "sent_less": 0.0}


def _row(until: Until, rule: BarRule) -> tuple[bool, bool, bool]:
    every = SHAPE.summarize(until.scores, until.settings)
    row = next(row for row in until.counted(every) if row.name == rule.metric and not row.slice)
    outcome = sure(rule.bar).outcome(row) if row.low is not None else "undecided"
    return str(row.verdict).startswith("prefers"), outcome == "met", outcome == "missed"


# ------------------------------------------------------------------------------------ of this set


def weighted(terms: int, bar: float, sets: int, spread: float = SPREAD) -> Stopped:
    """Items of terms of unequal size, whose mean over terms is just the bar."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(20, 80, terms)
    shares = np.clip(rng.normal(bar, spread / 100, terms), 0, 1)
    won = [round(share * n) for share, n in zip(shares, sizes, strict=True)]
    values = [np.repeat([1.0, 0.0], [w, n - w]) for w, n in zip(won, sizes, strict=True)]
    weights = [np.full(n, sizes.sum() / (terms * n)) for n in sizes]
    scaled = np.concatenate(values) * np.concatenate(weights)
    largest = float(np.concatenate(weights).max())
    return betting(scaled[None] / largest, float(scaled.mean()) / largest, sets)


def betting(values: Floats, bar: float, sets: int) -> Stopped:
    of, rng = values.shape[1], np.random.default_rng(1)
    sides, times = [], []
    for start in range(0, sets, AT_ONCE):
        count = min(AT_ONCE, sets - start)
        drawn = rng.permuted(np.repeat(values, count, axis=0), axis=1)
        side, time = _bets(drawn, bar, ENOUGH, of)
        sides.append(side)
        times.append(time)
    return _stopped(np.concatenate(sides), np.concatenate(times), of)


def _bets(drawn: Floats, bar: float, enough: float, population: int | None = None) -> Sided:
    sets, of = drawn.shape
    bets = Betting(np.full(sets, bar), population)
    side, time = np.zeros(sets, dtype=np.int64), np.full(sets, of)
    for item in range(of - (population is not None)):
        bets.add(drawn[:, item])
        says = (bets.above >= enough).astype(int) - (bets.below >= enough)
        new = (side == 0) & (says != 0)
        side[new], time[new] = says[new], item + 1
    return side, time


def over_terms(
    true: float, bar: float, sets: int, terms: int = 79, of: int = ITEMS, spread: float = SPREAD
) -> Stopped:
    """Whole terms that vary about a true value, in random order."""
    rng = np.random.default_rng(2)
    shares = np.clip(rng.normal(true, spread, (sets, terms)), 0, 100) / 100
    values = 100 * rng.binomial(of, shares) / of
    side, time = np.zeros(sets, dtype=np.int64), np.full(sets, terms)
    for n in range(LEAST, terms + 1):
        mean, spread_ = values[:, :n].mean(axis=1), values[:, :n].std(axis=1, ddof=1)
        least = (largest_t(n, 1 / ENOUGH) or np.inf) * spread_ / sqrt(n)
        new = (side == 0) & (spread_ > 1e-9) & (np.abs(mean - bar) >= least)
        side[new], time[new] = np.sign(mean - bar)[new].astype(int), n
    return _stopped(side, time, terms)


def looked_at(sets: int, terms: int = 79) -> float:
    """The share of sets without a preference that p < .05 finds after some term."""
    rng = np.random.default_rng(2)
    values = rng.normal(50, SPREAD, (sets, terms))
    rejected = np.zeros(sets, dtype=bool)
    for n in range(LEAST, terms + 1):
        t = (values[:, :n].mean(axis=1) - 50) / (values[:, :n].std(axis=1, ddof=1) / sqrt(n))
        rejected |= np.abs(t) > stdtrit(n - 1, 0.975)
    return float(rejected.mean())
