"""CATs, all and some of them: how far lms, ss and icat move."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import sqrt

import numpy as np

from stereometer.shapes.cat.metrics import TESTED, Drawn, Gap, side_values
from stereometer.shapes.cat.metrics import sides as both_sides
from stereometer.shapes.cat.points import (
    HEADLINE,
    IDEALS,
    KINDS,
    NO_LMS,
    averages,
    counted,
    headline_slices,
    outcome,
    rates,
)
from stereometer.shapes.differences import Shift
from stereometer.shapes.verdicts import FEW_TERMS, LIKE_THESE, SAME, THESE
from stereometer.stats.intervals import Floats, Ints, generator, percentile, student
from stereometer.stats.means import PerUnit, StudentMean
from stereometer.types import Score, Settings, Slice


def shifts(
    scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
) -> Iterator[Shift]:
    """Outcomes by target term, those of kept items in the second half of a row."""
    entries = (
        (score, outcome(score.values, settings.variant).index + KINDS * (score.item in keep))
        for score in scores
    )
    table = counted(entries, (2 * KINDS,))
    for slice_ in [{}] if overall else headline_slices(table):
        rows = table.within(slice_).rows
        if rows.size:
            yield from _slice(slice_, rows, settings)


def _halves(rows: Ints) -> tuple[Ints, Ints]:
    """Of all items, and of those kept; the last axis holds the outcomes of both."""
    return rows[..., :KINDS] + rows[..., KINDS:], rows[..., KINDS:]


def _slice(slice_: Slice, rows: Ints, settings: Settings) -> Iterator[Shift]:
    whole, kept = _halves(rows)
    names = ("ss",) if whole[:, NO_LMS].any() else HEADLINE
    values, left = (_averaged(part, np.ones(len(rows))) for part in (whole, kept))
    for name in names:
        value, after = float(values[name]), float(left[name])
        shift = Shift(name, slice_, IDEALS[name], value, int(whole.sum()), after, int(kept.sum()))
        yield _spanned(shift, rows, settings) if kept.any() else shift.without("no item is left")


def _spanned(shift: Shift, rows: Ints, settings: Settings) -> Shift:
    """Over the terms, where enough of them are left and they do not all move alike."""
    whole, kept = _halves(rows)
    if not (whole - kept).any():
        return shift.spanned((0.0, 0.0), "none: every item is kept")
    if int(kept.any(axis=1).sum()) >= FEW_TERMS:
        known = _over_terms(shift.name, whole, kept)
        low, high = known.interval(settings.level)
        if high - low > SAME:
            return shift.spanned((low, high), "t over target terms", LIKE_THESE)
    ends = _over_items(shift, rows, settings)
    return shift.spanned(ends, "percentile bootstrap over items, terms held fixed", THESE)


def _over_terms(name: str, whole: Ints, kept: Ints) -> StudentMean | Gap:
    before, after = (dict(zip(("lms", "ss"), _values(part), strict=True)) for part in (whole, kept))
    if name in TESTED:
        return StudentMean.of(after[name] - before[name])
    return Gap.of(StudentMean.of, side_values(**before), side_values(**after))


def _values(outcomes: Ints) -> list[Floats]:
    """lms and ss, one value per term: their mean is the average over the terms that have items."""
    there = outcomes.sum(axis=1) > 0
    weights = np.full(len(there), 1 / len(there))
    of_terms = rates(np.where(there[:, None], outcomes, 1))
    return [PerUnit(of * there, there.astype(np.float64)).values(weights) for of in of_terms]


def _averaged(outcomes: Ints, weights: Floats | Ints) -> dict[str, Floats]:
    """Averages over the terms that have items, the last but one axis."""
    n = outcomes.sum(axis=-1)
    there = n > 0
    lms, ss = rates(np.where(there[..., None], outcomes, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return averages(lms, ss, n, weights * there)


def _over_items(shift: Shift, rows: Ints, settings: Settings) -> tuple[float, float]:
    """Items drawn within each term; deviations widened as in decision 6.

    The widening goes by the mean number of items of a term. Draws that keep no item say nothing.
    """
    rng = generator(settings.seed, shift.slice, "shift")
    drawn = np.stack(
        [rng.multinomial(int(row.sum()), row / row.sum(), size=settings.resamples) for row in rows],
        axis=1,
    )
    drawn = drawn[drawn[..., KINDS:].any(axis=(1, 2))]
    n = rows.sum() / len(rows)
    wider = student(rows.sum(axis=1), settings.level) * sqrt(n / max(1.0, n - 1))
    ones = np.ones(len(rows))
    sides = []
    for of, draws in zip(_halves(rows), _halves(drawn), strict=True):
        middle, moved = _averaged(of, ones), _averaged(draws, ones)
        sides.append(
            {name: middle[name] + wider * (moved[name] - middle[name]) for name in ("lms", "ss")}
        )
    if shift.name in TESTED:
        return percentile(sides[1][shift.name] - sides[0][shift.name], settings.level)
    return Gap.of(Drawn, *(both_sides(**of) for of in sides)).interval(settings.level)
