"""Pairs under two systems, and all and some of them: differences and shifts of the preference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import hypot

import numpy as np

from stereometer.core.shapes.differences import Difference, Shift
from stereometer.core.shapes.points import KINDS, TIED, PointSample, single
from stereometer.core.shapes.verdicts import FEW_TERMS, LIKE_THESE, SAME, THESE
from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.stats.means import StudentMean, effective
from stereometer.core.stats.tests import mcnemar
from stereometer.core.types import Settings
from stereometer.kinds.pairs.metrics import PAIRS_LIKE_THESE, Counting


def differences(sample: PointSample, asked: int, settings: Settings) -> Iterator[Difference]:
    """None where every pair is neutral for one system and neutral pairs do not count."""
    table, counting = sample.total, Counting.of(settings.variant, sample.slice)
    before, after = (counting.preference(table.sum(axis=axis)) for axis in (1, 0))
    if np.isnan(before) or np.isnan(after):
        return
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
    first, second = (counting.per_unit(rows.sum(axis=axis)).values(weights) for axis in (2, 1))
    change, both = (StudentMean.of(of, weights) for of in (second - first, first + second - 100))
    # McNemar's test counts pairs that changed, and a tie that is resolved is not half a change.
    gained, lost = int(np.triu(table, 1).sum()), int(np.tril(table, -1).sum())
    copies = ", identical texts as one" if sample.copies.size else ""
    p, test = mcnemar(gained, lost), f"McNemar{copies}"
    if change.error <= SAME:
        p = mcnemar(len(rows) if difference.difference else 0, 0)
    elif scope == LIKE_THESE:
        p, test = change.p(), "paired t over terms, pairs weighing alike"
    elif copies or table[TIED].any() or table[:, TIED].any():
        p, test = change.p(), f"paired t over pairs{copies}"
    over = replace(difference.over_terms(change, settings), p=p, test=test)
    seen = over if gained or lost else over.unchanged(settings)
    whole = seen.with_sum(both.interval(settings.level), both.p(), settings)
    yield replace(whole, n=int(table.sum()))


def shifts(sample: PointSample, settings: Settings) -> Iterator[Shift]:
    """From pairs lost, tied and won, those of kept pairs in the second half of a row."""
    slice_, (rest, kept) = sample.slice, _halves(sample.total)
    counting = Counting.of(settings.variant, slice_)
    value, after = (counting.preference(part) for part in (rest + kept, kept))
    shift = Shift(
        "pair_preference", slice_, 50.0, value, int(sample.total.sum()), after, int(kept.sum())
    )
    if np.isnan(after) and not np.isnan(value):
        yield shift.without("no item is left")
    elif not np.isnan(value):
        yield _spanned(shift, sample, counting, settings.level)


def _spanned(shift: Shift, sample: PointSample, counting: Counting, level: float) -> Shift:
    rest, kept = _halves(sample.rows if sample.terms else sample.total[None])
    if not (rest.sum(axis=0) @ counting.out_of):
        return shift.spanned((0.0, 0.0), "none: every pair is kept")
    sizes = [part.sum(axis=1) for part in (kept, rest + kept)]
    if effective(sizes[0]) >= FEW_TERMS:
        weights = sum(of / of.sum() for of in sizes) / 2
        after, before = (counting.per_unit(part).values(weights) for part in (kept, rest + kept))
        mean = StudentMean.of(after - before, weights)
        if mean.error > SAME:
            return shift.spanned(mean.interval(level), "t over target terms", LIKE_THESE)
    left, right = (sample.independent * part.sum(axis=0).astype(float) for part in (rest, kept))
    ends = _between(left, right, counting, level)
    return shift.spanned(ends, "Newcombe over pairs", THESE if sample.terms else PAIRS_LIKE_THESE)


def _between(rest: Floats, kept: Floats, counting: Counting, level: float) -> tuple[float, float]:
    """All pairs are those kept and the rest, so the shift is a part of the difference of the two.

    Their interval is from one of each (Newcombe 1998, method 10).
    """
    (first, low, high), (second, below, above) = (
        (counting.preference(part), *counting.interval(part, level)) for part in (kept, rest)
    )
    apart, share = (
        first - second,
        float(rest @ counting.out_of) / float((rest + kept) @ counting.out_of),
    )
    return (
        share * (apart - hypot(first - low, above - second)),
        share * (apart + hypot(high - first, second - below)),
    )


def _halves(table: Ints) -> tuple[Ints, Ints]:
    """Of the pairs left out, and of those kept."""
    return table[..., :KINDS], table[..., KINDS:]
