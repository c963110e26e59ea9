"""Correlated readings of the same items, drawn, and how often the joint test rejects."""

from __future__ import annotations

import numpy as np

from stereometer.core.stats.intervals import Floats
from stereometer.core.stats.joint import joint_test

READINGS = 12


SPREAD = 0.15
"""Of how far terms lean, where items spread by 1."""


def table(
    rng: np.random.Generator, terms: int, shift: float = 0.0, skewed: bool = False
) -> tuple[Floats, Floats]:
    """Twelve correlated readings of the same items: six ways of asking, by term and by item.

    A term leans by its own amount, and every item is lost or won; two ways of asking agree on
    about four of five items. Where terms are skewed, few lean far and many a little the other way:
    the mean is the same, but swapped labels are not.
    """
    counts = rng.integers(3, 60, terms)
    drawn = rng.exponential(1.0, terms) - 1.0 if skewed else rng.normal(0.0, 1.0, terms)
    lean = shift + SPREAD * drawn
    sums, sizes = np.zeros((terms, READINGS)), np.ones((terms, READINGS))
    for term, (count, mean) in enumerate(zip(counts, lean, strict=True)):
        likes = rng.normal(mean, 1.0, count)[:, None] + rng.normal(0, 0.7, (count, READINGS // 2))
        sides = np.sign(likes).sum(axis=0)
        sums[term] = np.concatenate([sides / count, sides])
        sizes[term, READINGS // 2 :] = count
    return sums, sizes


def rejected(
    runs: int, flips: int, terms: int, shift: float = 0.0, skewed: bool = False
) -> dict[str, float]:
    """How often each of the three tests rejects at 5 %."""
    rng = np.random.default_rng([terms, int(1000 * shift)])
    counts = dict.fromkeys(("median", "share", "any"), 0)
    for _ in range(runs):
        joint = joint_test(*table(rng, terms, shift, skewed), flips, rng)
        counts["median"] += joint.p_median < 0.05
        counts["share"] += joint.p_share < 0.05
        counts["any"] += joint.p_adjusted.min() < 0.05
    return {name: count / runs for name, count in counts.items()}
