"""CATs, all and some of them: how far lms, ss and icat move, the same resamples for both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import sqrt

import numpy as np

from stereometer.shapes.cat.sample import FEW_TERMS, HEADLINE, IDEALS, averages, rates
from stereometer.shapes.cat.tally import (
    KINDS,
    NO_LMS,
    by_term,
    counted,
    headline_slices,
    outcome,
)
from stereometer.shapes.shift import Shift
from stereometer.stats.intervals import Floats, Ints, generator, resampled_clusters, student
from stereometer.types import Score, Settings, Slice


def shifts(
    scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
) -> Iterator[Shift]:
    """Outcomes by target term, those of kept items in the second half of a row."""
    entries = (
        (score, outcome(score.values, settings.variant).index + KINDS * (score.item in keep))
        for score in scores
    )
    tallies = counted(entries, (2 * KINDS,))
    for slice_ in [{}] if overall else headline_slices(tallies):
        rows = by_term(tallies, slice_)
        if rows.size:
            yield from _slice(slice_, rows, settings)


def _halves(rows: Ints) -> tuple[Ints, Ints]:
    """Of all items, and of those kept; the last axis holds the outcomes of both."""
    return rows[..., :KINDS] + rows[..., KINDS:], rows[..., KINDS:]


def _slice(slice_: Slice, rows: Ints, settings: Settings) -> Iterator[Shift]:
    whole, kept = _halves(rows)
    names = ("ss",) if whole[:, NO_LMS].any() else HEADLINE
    values, left = (_averaged(part, np.ones(len(rows))) for part in (whole, kept))
    few = len(rows) < FEW_TERMS
    over = "items, terms held fixed" if few else "target terms"
    draws = (_items_drawn if few else _terms_drawn)(rows, slice_, settings) if kept.any() else {}
    for name in names:
        value, after = float(values[name]), float(left[name])
        shift = Shift(name, slice_, IDEALS[name], value, int(whole.sum()), after, int(kept.sum()))
        if kept.any():
            yield shift.spanned(draws[name], f"percentile bootstrap over {over}", settings.level)
        else:
            yield shift.without("no item is left")


def _averaged(outcomes: Ints, weights: Floats | Ints) -> dict[str, Floats]:
    """Averages over the terms that have items, the last but one axis."""
    n = outcomes.sum(axis=-1)
    there = n > 0
    lms, ss = rates(np.where(there[..., None], outcomes, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return averages(lms, ss, n, weights * there)


def _moved(rows: Ints, weights: Floats | Ints) -> dict[str, Floats]:
    """The averages of the kept items minus those of all."""
    whole, kept = (_averaged(half, weights) for half in _halves(rows))
    return {name: kept[name] - whole[name] for name in HEADLINE}


def _terms_drawn(rows: Ints, slice_: Slice, settings: Settings) -> dict[str, Floats]:
    rng = generator(settings.seed, slice_, "shift")
    return _moved(rows, resampled_clusters(len(rows), settings.resamples, rng))


def _items_drawn(rows: Ints, slice_: Slice, settings: Settings) -> dict[str, Floats]:
    """Items drawn within each term; deviations widened as in decision 6.

    The widening goes by the mean number of items of a term.
    """
    rng = generator(settings.seed, slice_, "shift")
    drawn = [
        rng.multinomial(int(row.sum()), row / row.sum(), size=settings.resamples) for row in rows
    ]
    n = rows.sum() / len(rows)
    wider = student(rows.sum(axis=1), settings.level) * sqrt(n / max(1.0, n - 1))
    ones = np.ones(len(rows))
    middle, moved = _moved(rows, ones), _moved(np.stack(drawn, axis=1), ones)
    return {name: middle[name] + wider * (moved[name] - middle[name]) for name in HEADLINE}
