"""How far people who judge the same things agree: Krippendorff's alpha, for names and numbers, and
whether their answers lie at both ends of a scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc

from stereometer.core.stats.intervals import Floats, percentile, resampled_clusters


@dataclass(frozen=True)
class Alpha:
    """1 is perfect agreement, 0 what chance gives."""

    value: float | None
    low: float | None
    high: float | None
    units: int
    """Things with at least two labels."""
    labels: int
    interval: str = "percentile bootstrap"
    why: str | None = None


def disagreement(
    units: Sequence[Sequence[Hashable]], names: Sequence[Hashable]
) -> tuple[float, Floats]:
    """Observed disagreement of some units, and how often each name occurs: both add up over units.

    A unit of m labels counts each of its ordered pairs 1 / (m - 1) times; a single label pairs with
    nothing.
    """
    at = {name: index for index, name in enumerate(names)}
    observed, totals = 0.0, np.zeros(len(names))
    for unit in units:
        m = len(unit)
        if m < 2:
            continue
        counts = Counter(unit)
        observed += (m * m - sum(count * count for count in counts.values())) / (m - 1)
        for name, count in counts.items():
            totals[at[name]] += count
    return observed, totals


def nominal(observed: Floats, totals: Floats) -> Floats:
    """1 - observed / expected disagreement; the last axis of `totals` runs over names."""
    n = totals.sum(axis=-1)
    expected = (n * n - (totals**2).sum(axis=-1)) / (n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        alphas: Floats = np.where(expected > 0, 1 - observed / expected, np.nan)
    return alphas


def alpha(
    clusters: Mapping[Hashable, Sequence[Sequence[Hashable]]],
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> Alpha:
    """Alpha over the labels of all units, with an interval from clusters of units drawn again."""
    names = sorted(
        {label for units in clusters.values() for unit in units for label in unit}, key=repr
    )
    paired = [unit for units in clusters.values() for unit in units if len(unit) > 1]
    labels = sum(map(len, paired))
    if not paired or len({label for unit in paired for label in unit}) < 2:
        why = "at least one unit needs two labels, and two different names must occur"
        return Alpha(None, None, None, len(paired), labels, why=why)
    parts = [disagreement(units, names) for units in clusters.values()]
    observed, totals = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    value = float(nominal(observed.sum(), totals.sum(axis=0)))
    if len(parts) < 2:
        return Alpha(value, None, None, len(paired), labels, "none: a single cluster")
    weights = resampled_clusters(len(parts), resamples, rng)
    draws = nominal(weights @ observed, weights @ totals)
    low, high = percentile(draws[~np.isnan(draws)], level)
    return Alpha(value, low, high, len(paired), labels)


def point_alpha(units: Sequence[Sequence[Hashable]], names: bool) -> float | None:
    """Alpha alone, of names or of numbers on an interval scale; None where it is not defined."""
    paired = [unit for unit in units if len(unit) > 1]
    distinct = {label for unit in paired for label in unit}
    if len(distinct) < 2:
        return None
    if names:
        observed, totals = disagreement(paired, sorted(distinct, key=repr))
        return float(nominal(np.array(observed), totals))
    numbers = [np.array(unit, dtype=float) for unit in paired]
    within = sum(float(values.var(ddof=1)) * values.size for values in numbers)
    pooled = np.concatenate(numbers)
    return 1 - within / pooled.size / float(pooled.var(ddof=1))


LEVEL = 0.05


def polarised(answers: Floats, low: float = 0.0, high: float = 100.0) -> bool:
    """Both outer thirds of the scale hold more answers than the middle third, beyond chance.

    A distribution with one peak has at least as much in the middle third as in one of the outer
    ones, wherever its peak is: its density falls away from the peak, so the third beyond the
    middle, seen from there, is the emptier of the two. Hence each outer third is tested against the
    middle (binomial, one half), and both must be significant: an intersection-union test, whose
    false marks stay below 5 % for any distribution with one peak, without assuming its form. It
    takes five answers at either end and none between, so fewer than ten never suffice.
    """
    third = (high - low) / 3
    below = int(np.count_nonzero(answers < low + third))
    above = int(np.count_nonzero(answers > high - third))
    middle = answers.size - below - above
    return max(_p(below, middle), _p(above, middle)) <= LEVEL


def _p(outer: int, middle: int) -> float:
    """The chance of so many in the outer third where both are equally likely."""
    return float(bdtrc(outer - 1, outer + middle, 0.5)) if outer else 1.0
