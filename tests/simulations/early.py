"""Runs that stop when a bar is decided, looked at after every item or term: how often they decide,
on which side, and how much they ask."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import stdtrit

from stereometer.stats.betting import Betting
from stereometer.stats.e_values import LEAST, t_e_value
from stereometer.stats.intervals import Floats, Ints
from tests.simulations.cats import ITEMS, SPREAD

ENOUGH = 20.0
"""1 / error."""
AT_ONCE = 2000
"""Sets that are held in memory together."""


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
        side, time = _bets(drawn, bar)
        sides.append(side)
        times.append(time)
    return _stopped(np.concatenate(sides), np.concatenate(times), of)


def _bets(drawn: Floats, bar: float) -> tuple[Ints, Ints]:
    sets, of = drawn.shape
    bets = Betting(np.full(sets, bar), of)
    side, time = np.zeros(sets, dtype=np.int64), np.full(sets, of)
    for item in range(of - 1):
        bets.add(drawn[:, item])
        says = (bets.above >= ENOUGH).astype(int) - (bets.below >= ENOUGH)
        new = (side == 0) & (says != 0)
        side[new], time[new] = says[new], item + 1
    return side, time


def over_terms(
    true: float,
    bar: float,
    sets: int,
    terms: int = 79,
    of: int = ITEMS,
    spread: float = SPREAD,
) -> Stopped:
    """Whole terms that vary about a true value, in random order."""
    rng = np.random.default_rng(2)
    shares = np.clip(rng.normal(true, spread, (sets, terms)), 0, 100) / 100
    values = 100 * rng.binomial(of, shares) / of
    side, time = np.zeros(sets, dtype=np.int64), np.full(sets, terms)
    for n in range(LEAST, terms + 1):
        mean, spread_ = values[:, :n].mean(axis=1), values[:, :n].std(axis=1, ddof=1)
        error = np.maximum(spread_, 1e-12) / sqrt(n)
        e = np.where(spread_ > 1e-9, t_e_value(((mean - bar) / error) ** 2, n), 0.0)
        new = (side == 0) & (e >= ENOUGH)
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
