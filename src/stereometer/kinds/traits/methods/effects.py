"""Effect sizes of associations between vectors, combined by a random-effects model (CEAT, Guo and
Caliskan 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from stereometer.core.stats.intervals import Floats


def cosines(first: Floats, second: Floats) -> Floats:
    """Between vectors along the last axis."""
    size = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    cosine: Floats = (first * second).sum(axis=-1) / np.where(size > 0, size, 1.0)
    return cosine


def effect(near: Floats, far: Floats) -> Floats:
    """The difference of means over the spread of all; the last axis runs over words.

    Of one group, from its cosines with the words of two poles; of two groups, from how much nearer
    each of their words is to one pole.
    """
    spread = np.concatenate([near, far], axis=-1).std(axis=-1, ddof=1)
    difference = near.mean(axis=-1) - far.mean(axis=-1)
    return np.where(spread > 0, difference / np.where(spread > 0, spread, 1.0), 0.0)


@dataclass(frozen=True)
class Combined:
    """The effects of many draws as one."""

    effect: float
    error: float
    between: float
    """Variance between draws beyond that within them."""


def within_variance(effects: Floats, sizes: tuple[int, int]) -> Floats:
    """The sampling variance of a standardised difference of two means (Hedges and Olkin 1985)."""
    a, b = sizes
    variances: Floats = (a + b) / (a * b) + effects**2 / (2 * (a + b))
    return variances


def random_effects(effects: Floats, variances: Floats) -> Combined:
    """DerSimonian and Laird.

    Draws are weighted by the inverse of the variance within and between them.
    """
    weights = 1 / variances
    total = weights.sum()
    fixed = (weights * effects).sum() / total
    q = float((weights * (effects - fixed) ** 2).sum())
    scale = float(total - (weights**2).sum() / total)
    between = max(0.0, (q - (effects.size - 1)) / scale) if scale > 0 else 0.0
    weights = 1 / (variances + between)
    effect, error = float((weights * effects).sum() / weights.sum()), sqrt(1 / float(weights.sum()))
    return Combined(effect, error, between)
