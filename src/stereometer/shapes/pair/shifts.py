"""Pairs, all and some of them: how far the preference moves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import hypot

import numpy as np

from stereometer.shapes.differences import Shift
from stereometer.shapes.pair.points import (
    PAIRS_LIKE_THESE,
    counted,
    interval,
    kind,
    points,
    preference,
    slices,
)
from stereometer.shapes.points import KINDS, PointSample
from stereometer.shapes.verdicts import FEW_TERMS, LIKE_THESE, SAME, THESE
from stereometer.stats.intervals import Floats, Ints
from stereometer.stats.means import PerUnit, StudentMean, effective
from stereometer.types import Score, Settings


def shifts(
    scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
) -> Iterator[Shift]:
    """Counts of pairs lost, tied and won, those of kept pairs in the second half of a row."""
    entries = (
        (score, kind(score, settings.variant) + KINDS * (score.item in keep)) for score in scores
    )
    table = counted(entries, (2 * KINDS,))
    for slice_ in [{}] if overall else slices(table):
        yield from _slice(table.within(slice_), settings)


def _slice(sample: PointSample, settings: Settings) -> Iterator[Shift]:
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
