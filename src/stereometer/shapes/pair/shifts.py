"""Pairs, all and some of them: how far the preference moves, the same resamples for both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from stereometer.shapes.pair.tally import KINDS, counted, kind, points, preference
from stereometer.shapes.shift import Shift
from stereometer.stats.intervals import Ints, generator
from stereometer.types import Score, Settings, Slice


def shifts(
    scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
) -> Iterator[Shift]:
    """Counts of pairs lost, tied and won, those of kept pairs in the second half of a row."""
    entries = (
        (score, kind(score, settings.variant) + KINDS * (score.item in keep)) for score in scores
    )
    for slice_, table in counted(entries, (2 * KINDS,)):
        if not (overall and slice_):
            yield from _slice(slice_, table, settings)


def _slice(slice_: Slice, table: Ints, settings: Settings) -> Iterator[Shift]:
    counts = points(settings.variant, slice_)
    rng = generator(settings.seed, slice_, "shift")
    drawn = rng.multinomial(int(table.sum()), table / table.sum(), size=settings.resamples)
    (value, values), (kept, after) = (
        (float(preference(whole, *counts)), preference(draws, *counts))
        for whole, draws in zip(_halves(table), _halves(drawn), strict=True)
    )
    shift = Shift(
        "pair_preference",
        slice_,
        50.0,
        value,
        int(table.sum()),
        kept,
        int(table[KINDS:].sum()),
    )
    if np.isnan(kept) and not np.isnan(value):
        yield shift.without("no item is left")
    elif not np.isnan(value):
        how = "percentile bootstrap over pairs"
        yield shift.spanned(after - values, how, settings.level)


def _halves(table: Ints) -> tuple[Ints, Ints]:
    """Of all pairs, and of those kept."""
    return table[..., :KINDS] + table[..., KINDS:], table[..., KINDS:]
