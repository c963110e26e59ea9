"""Two systems on the same pairs: differences of their preferences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from stereometer.shapes.differences import Difference, Withheld, asked_or_withheld
from stereometer.shapes.pair.points import (
    PAIRS_LIKE_THESE,
    counted,
    kind,
    points,
    preference,
    slices,
)
from stereometer.shapes.points import KINDS, LOST, TIED, WON, PointSample, single
from stereometer.shapes.verdicts import LIKE_THESE, SAME, THESE
from stereometer.stats.intervals import Ints
from stereometer.stats.means import PerUnit, StudentMean
from stereometer.stats.tests import mcnemar
from stereometer.types import Score, Settings, Slice


def differences(
    both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    """What the first system says of a pair by what the second does, counted by slice."""
    joint = ((pair[0], tuple(kind(score, settings.variant) for score in pair)) for pair in both)
    table = counted(joint, (KINDS, KINDS))
    for sample in map(table.within, slices(table)):
        asked = asked_or_withheld(sample.slice, int(sample.total.sum()), every, settings)
        if isinstance(asked, Withheld):
            yield asked
        elif _has_preferences(sample.total, settings, sample.slice):
            yield _difference(sample, asked, settings)


def _has_preferences(table: Ints, settings: Settings, slice_: Slice) -> bool:
    """Not where every pair is neutral for one system and neutral pairs do not count."""
    if points(settings.variant, slice_)[1].all():
        return True
    return all(table.sum(axis=axis)[[LOST, WON]].any() for axis in (0, 1))


def _difference(sample: PointSample, asked: int, settings: Settings) -> Difference:
    table, (won, out_of) = sample.total, points(settings.variant, sample.slice)
    before, after = (float(preference(table.sum(axis=axis), won, out_of)) for axis in (1, 0))
    scope = LIKE_THESE if sample.terms else PAIRS_LIKE_THESE
    rows, weights = sample.rows, sample.weights
    if sample.fixed_terms:
        rows, weights, scope = single(table), np.full(int(table.sum()), 1 / table.sum()), THESE
    difference = Difference(
        "pair_preference",
        sample.slice,
        before,
        after,
        len(rows),  # what stands in for a spread that is not seen counts identical texts as one
        asked,
        terms=sample.terms,
        ideal=50.0,
        scope=scope,
    )
    first, second = (
        PerUnit(100 * (of @ won), of @ out_of).values(weights)
        for of in (rows.sum(axis=2), rows.sum(axis=1))
    )
    change, both = (StudentMean.of(of, weights) for of in (second - first, first + second - 100))
    # McNemar's test counts pairs that changed, and a tie that is resolved is not half a change.
    gained, lost = int(np.triu(table, 1).sum()), int(np.tril(table, -1).sum())
    copies = ", identical texts as one" if sample.has_copies else ""
    p, test = mcnemar(gained, lost), f"McNemar{copies}"
    if change.error <= SAME:
        p = mcnemar(len(rows) if difference.difference else 0, 0)
    elif scope == LIKE_THESE:
        p, test = change.p(), "paired t over terms, pairs weighing alike"
    elif sample.has_copies or table[TIED].any() or table[:, TIED].any():
        p, test = change.p(), f"paired t over pairs{copies}"
    over = replace(difference.over_terms(change, settings), p=p, test=test)
    seen = over if gained or lost else over.unchanged(settings)
    whole = seen.with_sum(both.interval(settings.level), both.p(), settings)
    return replace(whole, n=int(table.sum()))
