"""CATs under two systems, and all and some of them: differences and shifts of lms, ss and icat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt

import numpy as np

from stereometer.core.shapes.differences import Difference, Shift
from stereometer.core.shapes.points import PointSample
from stereometer.core.shapes.verdicts import FEW_TERMS, LIKE_THESE, NULL_VALUE, SAME, THESE
from stereometer.core.stats.intervals import (
    Floats,
    Ints,
    generator,
    percentile,
    resampled_means,
    student,
)
from stereometer.core.stats.means import PerUnit, StudentMean
from stereometer.core.stats.tests import sign_flip
from stereometer.core.types import Settings, Slice
from stereometer.kinds.cats import points
from stereometer.kinds.cats.metrics import TESTED, DrawnValue, Gap, side_values, sides
from stereometer.kinds.cats.points import averages, rates


def differences(sample: PointSample, asked: int, settings: Settings) -> Iterator[Difference]:
    """Of terms x outcomes of the first x outcomes of the second."""
    tables = sample.rows
    systems = [tables.sum(axis=axis) for axis in (2, 1)]
    undefined = any(outcomes[:, points.NO_LMS].any() for outcomes in systems)
    n, few = tables.sum(axis=(1, 2)), len(tables) < FEW_TERMS
    first, second = (averages(*rates(outcomes), n) for outcomes in systems)
    for name in ("ss",) if undefined else points.HEADLINE:
        difference = Difference(
            name,
            sample.slice,
            float(first[name]),
            float(second[name]),
            int(n.sum()),
            asked,
            len(tables),
            points.IDEALS[name],
            scope=THESE if few else LIKE_THESE,
        )
        if name not in TESTED:
            yield _bent(difference, tables, settings)
        else:
            yield (_over_items if few else _over_terms)(difference, tables, settings)


def _bent(difference: Difference, tables: Ints, settings: Settings) -> Difference:
    """icat, which bends at an ss of 50; over items where there are too few terms, or all of them
    differ alike."""
    gap, test = None, "paired t over terms, both sides of icat"
    if len(tables) >= FEW_TERMS:
        gap = Gap.of(StudentMean.of, *(side_values(*rates(tables.sum(axis=at))) for at in (2, 1)))
    if gap is None or not gap.has_spread:
        drawn = _drawn(difference.slice, tables, settings)
        gap = Gap.of(DrawnValue, *(sides(side["lms"], side["ss"]) for side in drawn))
        test = "bootstrap of items"
        difference = replace(difference, floor=2 / (1 + settings.resamples))
    tested = replace(difference, p=gap.p(), test=test)
    if not tables.sum(axis=0)[~np.eye(points.KINDS, dtype=bool)].any():
        return tested.unchanged(settings)
    low, high = gap.interval(settings.level)
    if high - low <= SAME:
        return tested.without_spread(settings)
    seen = gap.nearest.detectable(settings.level)
    return replace(tested, low=low, high=high, detectable=seen, free=gap.nearest.free)


def _groups(name: str, tables: Ints, sign: int = -1) -> list[Floats]:
    """By term, each item under the second system less the first, or both together, from 50."""
    of = TESTED[name] - 0.5
    both = of[None, :] + sign * of[:, None]
    return [np.repeat(both.ravel(), table.ravel()) for table in tables]


def _over_items(difference: Difference, tables: Ints, settings: Settings) -> Difference:
    first, second = (each[difference.name] for each in _drawn(difference.slice, tables, settings))
    groups, sums = (_groups(difference.name, tables, sign) for sign in (-1, 1))
    test = "sign flips of items, terms held fixed"
    known = difference.measured(second - first, sign_flip(groups), test, settings)
    if not any(group.any() for group in groups):
        known = known.unchanged(settings)
    both = percentile(second + first - 2 * NULL_VALUE, settings.level)
    return known.with_sum(both, sign_flip(sums), settings)


def _over_terms(difference: Difference, tables: Ints, settings: Settings) -> Difference:
    groups, sums = (_groups(difference.name, tables, sign) for sign in (-1, 1))
    mean, both = (
        StudentMean.of(np.array([100 * group.mean() for group in of])) for of in (groups, sums)
    )
    known = replace(difference.over_terms(mean, settings), test="paired t over terms")
    if not any(group.any() for group in groups):
        known = known.unchanged(settings)
    elif mean.error <= SAME:
        known = replace(known, p=sign_flip(groups), test="sign flips of items: all terms agree")
    p = both.p() if both.error > SAME else sign_flip(sums)
    return known.with_sum(both.interval(settings.level), p, settings)


def _drawn(slice_: Slice, tables: Ints, settings: Settings) -> list[dict[str, Floats]]:
    """Averages of both systems on items drawn again within each term, the same for both."""
    turned = np.ascontiguousarray(tables.transpose(0, 2, 1))
    if turned.tobytes() < tables.tobytes():
        # Either order of the systems draws the same resamples: differences only change sign.
        return _drawn(slice_, turned, settings)[::-1]
    rng = generator(settings.seed, slice_, "compare")
    outcomes = np.divmod(np.arange(points.KINDS**2), points.KINDS)
    values = [of[side] for side in outcomes for of in (points.LMS_OF, points.SS_OF)]
    rows, n = tables.reshape(len(tables), -1), tables.sum(axis=(1, 2))
    drawn = resampled_means(rows, values, settings.resamples, rng, settings.level)
    return [averages(100 * drawn[at], 100 * drawn[at + 1], n) for at in (0, 2)]


# ------------------------------------------------------------------------------------------ shifts


def _halves(rows: Ints) -> tuple[Ints, Ints]:
    """Of all items, and of those kept; the last axis holds the outcomes of both."""
    return rows[..., : points.KINDS] + rows[..., points.KINDS :], rows[..., points.KINDS :]


def shifts(sample: PointSample, settings: Settings) -> Iterator[Shift]:
    """By target term, the outcomes of kept items in the second half of a row."""
    rows = sample.rows
    whole, kept = _halves(rows)
    names = ("ss",) if whole[:, points.NO_LMS].any() else points.HEADLINE
    values, left = (_averaged(half) for half in (whole, kept))
    n, n_kept = int(whole.sum()), int(kept.sum())
    for name in names:
        value, after = float(values[name]), float(left[name])
        shift = Shift(name, sample.slice, points.IDEALS[name], value, n, after, n_kept)
        yield _spanned(shift, rows, settings) if n_kept else shift.without("no item is left")


def _spanned(shift: Shift, rows: Ints, settings: Settings) -> Shift:
    """Over the terms, where enough of them are left and they do not all move alike."""
    whole, kept = _halves(rows)
    if not (whole - kept).any():
        return shift.spanned((0.0, 0.0), "none: every item is kept")
    if int(kept.any(axis=1).sum()) >= FEW_TERMS:
        low, high = _terms_moved(shift.name, whole, kept).interval(settings.level)
        if high - low > SAME:
            return shift.spanned((low, high), "t over target terms", LIKE_THESE)
    ends = _items_moved(shift, rows, settings)
    return shift.spanned(ends, "percentile bootstrap over items, terms held fixed", THESE)


def _terms_moved(name: str, whole: Ints, kept: Ints) -> StudentMean | Gap:
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


def _averaged(outcomes: Ints) -> dict[str, Floats]:
    """Averages over the terms that have items, the last but one axis."""
    n = outcomes.sum(axis=-1)
    there = n > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        return averages(*rates(np.where(there[..., None], outcomes, 1)), n, there.astype(float))


def _items_moved(shift: Shift, rows: Ints, settings: Settings) -> tuple[float, float]:
    """Items drawn within each term; deviations widened as in decision 6.

    The widening goes by the mean number of items of a term. Draws that keep no item say nothing.
    """
    rng = generator(settings.seed, shift.slice, "shift")
    drawn = np.stack(
        [rng.multinomial(int(row.sum()), row / row.sum(), size=settings.resamples) for row in rows],
        axis=1,
    )
    drawn = drawn[drawn[..., points.KINDS :].any(axis=(1, 2))]
    n = rows.sum() / len(rows)
    wider = student(rows.sum(axis=1), settings.level) * sqrt(n / max(1.0, n - 1))
    before, after = (
        {name: middle[name] + wider * (moved[name] - middle[name]) for name in ("lms", "ss")}
        for middle, moved in (
            (_averaged(of), _averaged(draws))
            for of, draws in zip(_halves(rows), _halves(drawn), strict=True)
        )
    )
    if shift.name in TESTED:
        return percentile(after[shift.name] - before[shift.name], settings.level)
    return Gap.of(DrawnValue, sides(**before), sides(**after)).interval(settings.level)
