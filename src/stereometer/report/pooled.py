"""Slices of one kind beside their partly pooled values: a better guess, and no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from scipy.special import stdtrit

from stereometer.report.systems import System
from stereometer.shapes.verdicts import NULL_VALUE
from stereometer.show import numbers
from stereometer.stats.effects import FEWEST, partly_pooled
from stereometer.types import Estimate

POOLED = (
    "Partly pooled: drawn toward the other slices of its kind by how little it is known (Paule and "
    "Mandel), which errs less where slices are small. No verdict rests on it."
)


def pooled_slices(
    placed: Sequence[tuple[System, Estimate]], level: float, digits: int
) -> dict[int, str]:
    """By place: value and interval of those with an ideal of 50, enough of a kind and system."""
    kinds: dict[tuple[str, ...], list[int]] = {}
    for at, (system, row) in enumerate(placed):
        if row.slice and row.ideal == NULL_VALUE and _error(row, level):
            kinds.setdefault((system.label, *sorted(row.slice)), []).append(at)
    cells = {}
    for places in (each for each in kinds.values() if len(each) >= FEWEST):
        rows = [placed[at][1] for at in places]
        values = np.array([row.value for row in rows], dtype=float)
        errors = np.array([_error(row, level) for row in rows])
        drawn = np.stack(partly_pooled(values, errors, level), axis=1)
        for at, ends in zip(places, drawn, strict=True):
            value, low, high = (min(100.0, max(0.0, float(end))) for end in ends)
            cells[at] = f"{numbers.number(value, digits)} {numbers.span(low, high, digits)}"
    return cells


def _error(row: Estimate, level: float) -> float:
    """The standard error that an interval is made of; 0 where there is none."""
    if row.value is None or row.low is None or row.high is None:
        return 0.0
    end = (1 + level) / 2
    quantile = NormalDist().inv_cdf(end) if row.free is None else float(stdtrit(row.free, end))
    return (row.high - row.low) / 2 / quantile
