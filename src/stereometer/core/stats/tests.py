"""Tests and corrections.

Sign test, sign-flip over fixed clusters, McNemar, exchange of members, Holm, Benjamini-Hochberg,
and the correction of rows within their families.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb, erfc, sqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from stereometer.core.stats.intervals import Floats
from stereometer.core.stats.means import NO_SPREAD, POWER, reach


def sign_test(wins: float, losses: float) -> float:
    """Two-sided exact binomial test that wins and losses are equally likely; ties say nothing.

    A fair coin is symmetric, so both tails are twice one; scipy.stats.binomtest gives the same at a
    hundred times the cost. As a beta function it is defined between whole numbers too.
    """
    from scipy.special import betainc

    fewer, more = sorted((wins, losses))
    return min(1.0, 2 * float(betainc(more, fewer + 1, 0.5))) if more else 1.0


def sign_interval(wins: float, losses: float, level: float) -> tuple[float, float]:
    """Of the share of wins (Clopper and Pearson): it leaves out one half where `sign_test` rejects
    at 1 - level, and only there."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(wins, losses + 1, tail)) if wins else 0.0
    return low, float(betaincinv(wins + 1, losses, 1 - tail)) if losses else 1.0


def mcnemar(gained: int, lost: int) -> float:
    """McNemar's exact test: a sign test on the pairs where two systems decide differently."""
    return sign_test(gained, lost)


def sign_flip(groups: Sequence[Floats]) -> float:
    """Two-sided test that deviations within fixed groups are symmetric about zero.

    Groups weigh equally. Under that hypothesis every deviation could as well have the other sign.
    One group of equal deviations is an exact sign test; a few deviations are flipped in every way;
    many are taken as normal, with the variance of the flips.
    """
    deviations = np.concatenate(groups)
    moved = deviations[deviations != 0]
    if moved.size == 0:
        return 1.0
    if len(groups) == 1 and np.ptp(np.abs(moved)) == 0:
        return sign_test(int((moved > 0).sum()), int((moved < 0).sum()))
    mean = sum(float(group.mean()) for group in groups)
    if moved.size <= ENUMERABLE:
        sums = np.zeros(1)
        for weight in np.concatenate([group[group != 0] / group.size for group in groups]):
            sums = np.concatenate([sums + weight, sums - weight])
        return float((np.abs(sums) >= abs(mean) - 1e-12).mean())
    variance = sum(float((group**2).sum()) / group.size**2 for group in groups)
    return erfc(abs(mean) / sqrt(2 * variance))


ENUMERABLE = 16
"""Deviations whose signs are flipped in all 65,536 ways at the most."""


def bootstrap_p(samples: Floats) -> float:
    """Two-sided p of a difference from its resampled distribution.

    Never smaller than 2 / (resamples + 1). Draws that are all alike prove nothing.
    """
    if np.ptp(samples) <= NO_SPREAD:
        return 1.0
    below, above = int((samples <= 0).sum()), int((samples >= 0).sum())
    return min(1.0, 2 * (1 + min(below, above)) / (samples.size + 1))


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given."""
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = largest
    return adjusted


def false_discovery(p: Floats | Sequence[float]) -> Floats:
    """Benjamini and Hochberg's adjusted p, in the order given."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values)[::-1]
    ranks = np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(values[order] * values.size / ranks))
    return adjusted


def detectable(spread: float, level: float, power: float = POWER) -> float:
    """The smallest true difference that a two-sided test at `level` finds with this power.

    From its standard error.
    """
    return reach(level, None, power) * spread


SPLITS = 20_000
"""Ways to divide the members up to which all are tried; of more, so many are drawn."""
ROUNDING = 1e-12


def exchange_p(first: Floats, second: Floats, rng: np.random.Generator) -> float:
    """Two-sided p of the difference of two means: the share of divisions that are as far apart."""
    values = np.concatenate([first, second])
    away = values - values.mean()
    sums = np.abs(away[_divisions(values.size, first.size, rng)].sum(axis=1))
    return float(np.mean(sums >= abs(away[: first.size].sum()) - ROUNDING))


def least_p(first: int, second: int) -> float:
    """No p of so many members can be smaller: sides of one size may also change places."""
    return (1 + (first == second)) / comb(first + second, first)


def _divisions(count: int, chosen: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Places of the members on the first side, a row per division; the true one first."""
    if comb(count, chosen) <= SPLITS:
        return np.array(list(combinations(range(count), chosen)))
    drawn = rng.permuted(np.tile(np.arange(count), (SPLITS, 1)), axis=1)[:, :chosen]
    return np.concatenate([np.arange(chosen)[None], drawn])


Row = TypeVar("Row")
"""A frozen dataclass with p and what the correction fills: p_adjusted, tests, verdict and
beyond_noise."""
Said = tuple[str | None, bool]
"""The words of a verdict, and whether they name an effect."""
Adjust = Callable[[Sequence[float]], Sequence[float] | Floats]


def corrected(
    rows: Iterable[Row],
    verdict: Callable[[Row, float], Said],
    family: Callable[[Row], Hashable] = lambda row: (),
    adjust: Callable[[Row], Adjust] = lambda row: holm,
    known: Callable[[Row], Row] = lambda row: row,
) -> list[Row]:
    """The rows with p adjusted within their family, and what that says.

    Rows without p, or whose family is None, stay as they are. `adjust` gives the correction of the
    family that a row is in, `known` what the size of its family changes in a row.
    """
    judged: list[Any] = list(rows)
    for places in _places([row.p for row in judged], map(family, judged)):
        together = adjust(judged[places[0]])([judged[at].p for at in places])
        for at, p in zip(places, map(float, together), strict=True):
            row: Any = known(replace(judged[at], p_adjusted=p, tests=len(places)))
            says, beyond = verdict(row, p)
            judged[at] = replace(row, verdict=says, beyond_noise=beyond)
    return judged


def adjusted(ps: Sequence[float | None], families: Iterable[Hashable]) -> list[float | None]:
    """Each p adjusted (Holm) within its family; where there is none, none."""
    after: list[float | None] = [None] * len(ps)
    for places in _places(ps, families):
        for at, p in zip(places, holm([ps[at] or 0.0 for at in places]), strict=True):
            after[at] = p
    return after


def _places(ps: Iterable[float | None], families: Iterable[Hashable]) -> Iterable[list[int]]:
    """Where the p-values stand that are corrected together."""
    places: dict[Hashable, list[int]] = {}
    for at, (p, family) in enumerate(zip(ps, families, strict=True)):
        if p is not None and family is not None:
            places.setdefault(family, []).append(at)
    return places.values()
