"""Different questions of one part, side by side: likelihood against pseudo-likelihood of one model.
Nothing is tested here, because the readings do not answer the same question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from stereometer.readings.reading import Asked, Reading, counted
from stereometer.readings.sides import ALL_ITEMS
from stereometer.readings.table import Way
from stereometer.shapes.sweep import AGREEMENT, DIFFERENCE
from stereometer.shapes.verdicts import ALL_ALIKE
from stereometer.stats.intervals import wilson_percent
from stereometer.types import Estimate, Result


def across(asked: Sequence[Asked]) -> Iterator[Estimate]:
    """Every two questions of a part by their first ways that have a score."""
    first = [(each, way) for each in asked if (way := _first(each)) is not None]
    for (one, left), (other, right) in combinations(first, 2):
        if one.part is other.part:
            yield from _contrast(one, left, other, right)


def _first(asked: Asked) -> Way | None:
    averaging = asked.part.averagings[0]
    scored = (
        way
        for way in asked.ways
        if counted(asked, Reading(way, averaging, ALL_ITEMS)).value is not None
    )
    return next(scored, None)


def _contrast(one: Asked, left: Way, other: Asked, right: Way) -> Iterator[Estimate]:
    part, level = one.part, one.settings.level
    first, second = part.sides[left.id], part.sides[right.id]
    both = ~np.isnan(first) & ~np.isnan(second)
    place = {**one.slice, "other": other.question.id}
    n, asked = int(both.sum()), len(first)
    empty = Estimate(DIFFERENCE, place, None, None, None, n, asked, 0, 0.0)
    if n < 2:
        why = "hardly any item was answered both ways"
        yield from (replace(empty, name=name, why=why) for name in (DIFFERENCE, AGREEMENT))
        return
    moved = np.full(len(first), np.nan)
    moved[both] = 50 * (second[both] - first[both])
    mean, over = part.averaged(moved), "target terms" if part.has_terms else "items"
    known = replace(empty, value=mean.value, interval=ALL_ALIKE)
    if mean.has_spread:
        low, high = mean.interval(level)
        known = replace(known, low=low, high=high, interval=f"paired t over {over}")
    yield known
    same = int((first[both] == second[both]).sum())
    low, high = wilson_percent(100 * same / n, n, level)
    share = replace(empty, name=AGREEMENT, ideal=None, value=100 * same / n, interval="Wilson")
    yield replace(share, low=low, high=high)


def beside(
    results: Mapping[str, Result], asked: Sequence[Asked], metrics: Sequence[str]
) -> Iterator[Estimate]:
    """What else the runs say of a part: lms and icat of CATs, as their own results have them."""
    for each in asked:
        for way in each.ways:
            for row in results[way.id].estimates:
                here = row.slice == {"task": each.part.name}
                if here and row.name in metrics:
                    place = {**each.slice, "measure": way.measure, **way.choices}
                    yield replace(row, slice=place, published=None)
