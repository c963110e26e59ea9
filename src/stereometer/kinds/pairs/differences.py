"""Pairs under two systems, and all and some of them: differences and shifts of the preference."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import hypot

import numpy as np

from stereometer.core.shapes.differences import Difference, Shift, Withheld, asked_or_withheld
from stereometer.core.shapes.points import KINDS, LOST, TIED, WON, PointSample, single
from stereometer.core.shapes.verdicts import FEW_TERMS, LIKE_THESE, SAME, THESE
from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.stats.means import PerUnit, StudentMean, effective
from stereometer.core.stats.tests import mcnemar
from stereometer.core.types import Score, Settings, Slice
from stereometer.kinds.pairs.points import (
    PAIRS_LIKE_THESE,
    counted,
    interval,
    kind,
    points,
    preference,
    slices,
)


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


def shifts(
    scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
) -> Iterator[Shift]:
    """Counts of pairs lost, tied and won, those of kept pairs in the second half of a row."""
    entries = (
        (score, kind(score, settings.variant) + KINDS * (score.item in keep)) for score in scores
    )
    table = counted(entries, (2 * KINDS,))
    for slice_ in [{}] if overall else slices(table):
        yield from _moved(table.within(slice_), settings)


def _moved(sample: PointSample, settings: Settings) -> Iterator[Shift]:
    slice_, (rest, kept) = sample.slice, _halves(sample.total)
    counts = points(settings.variant, slice_)
    value, after = (float(preference(part, *counts)) for part in (rest + kept, kept))
    shift = Shift(
        "pair_preference", slice_, 50.0, value, int(sample.total.sum()), after, int(kept.sum())
    )
    if np.isnan(after) and not np.isnan(value):
        yield shift.without("no item is left")
    elif not np.isnan(value):
        yield _spanned(shift, sample, *counts, settings.level)


def _spanned(shift: Shift, sample: PointSample, won: Floats, out_of: Floats, level: float) -> Shift:
    rest, kept = _halves(sample.rows if sample.terms else sample.total[None])
    if not (rest.sum(axis=0) @ out_of):
        return shift.spanned((0.0, 0.0), "none: every pair is kept")
    sizes = [part.sum(axis=1) for part in (kept, rest + kept)]
    if effective(sizes[0]) >= FEW_TERMS:
        weights = sum(of / of.sum() for of in sizes) / 2
        after, before = (
            PerUnit(100 * (part @ won), part @ out_of).values(weights)
            for part in (kept, rest + kept)
        )
        mean = StudentMean.of(after - before, weights)
        if mean.error > SAME:
            return shift.spanned(mean.interval(level), "t over target terms", LIKE_THESE)
    left, right = (sample.independent * part.sum(axis=0).astype(float) for part in (rest, kept))
    ends = _between(left, right, won, out_of, level)
    return shift.spanned(ends, "Newcombe over pairs", THESE if sample.terms else PAIRS_LIKE_THESE)


def _between(
    rest: Floats, kept: Floats, won: Floats, out_of: Floats, level: float
) -> tuple[float, float]:
    """All pairs are those kept and the rest, so the shift is a part of the difference of the two.

    Their interval is from one of each (Newcombe 1998, method 10).
    """
    (first, low, high), (second, below, above) = (
        (float(preference(part, won, out_of)), *interval(part, won, out_of, level))
        for part in (kept, rest)
    )
    apart, share = first - second, float(rest @ out_of) / float((rest + kept) @ out_of)
    return (
        share * (apart - hypot(first - low, above - second)),
        share * (apart + hypot(high - first, second - below)),
    )


def _halves(table: Ints) -> tuple[Ints, Ints]:
    """Of the pairs left out, and of those kept."""
    return table[..., :KINDS], table[..., KINDS:]
