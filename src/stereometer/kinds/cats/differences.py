"""CATs under two systems, and all and some of them: differences and shifts of lms, ss and icat."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from stereometer.core.shapes.differences import Difference, Shift, Withheld, asked_or_withheld
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
from stereometer.core.types import Score, Settings, Slice
from stereometer.kinds.cats import points
from stereometer.kinds.cats.metrics import TESTED, DrawnValue, Gap, side_values, sides
from stereometer.kinds.cats.metrics import sides as both_sides


def differences(
    both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    """Joint outcomes of both systems, by term."""
    joint = (
        (pair[0], tuple(points.outcome(score.values, settings.variant).index for score in pair))
        for pair in both
    )
    table = points.counted(joint, (points.KINDS, points.KINDS))
    for slice_ in points.headline_slices(table):
        tables = table.within(slice_).rows
        if not tables.size:
            continue  # a domain that this task has no items of
        asked = asked_or_withheld(slice_, int(tables.sum()), every, settings)
        if isinstance(asked, Withheld):
            yield asked
        else:
            yield from _slice(slice_, tables, asked, settings)


def _slice(slice_: Slice, tables: Ints, asked: int, settings: Settings) -> Iterator[Difference]:
    """`tables` is terms x outcomes of the first x outcomes of the second."""
    undefined = any(tables.sum(axis=axes)[points.NO_LMS].any() for axes in ((0, 2), (0, 1)))
    n, few = tables.sum(axis=(1, 2)), len(tables) < FEW_TERMS
    first, second = (points.averages(*side, n, np.ones(len(tables))) for side in _rates(tables))
    for name in ("ss",) if undefined else points.HEADLINE:
        values = float(first[name]), float(second[name])
        difference = Difference(
            name, slice_, *values, int(n.sum()), asked, len(tables), points.IDEALS[name]
        )
        scoped = replace(difference, scope=THESE if few else LIKE_THESE)
        if name not in TESTED:
            yield _bent(scoped, tables, settings)
        else:
            yield (_over_items if few else _over_terms)(scoped, tables, settings)


def _bent(difference: Difference, tables: Ints, settings: Settings) -> Difference:
    """icat, which bends at an ss of 50."""
    gap, test = _icat_over_terms(tables), "paired t over terms, both sides of icat"
    if gap is None:
        drawn = _drawn(difference.slice, tables, settings)
        gap = Gap.of(DrawnValue, *(sides(side["lms"], side["ss"]) for side in drawn))
        test = "bootstrap of items"
        difference = replace(difference, floor=2 / (1 + settings.resamples))
    low, high = gap.interval(settings.level)
    differs = tables.sum(axis=0)[~np.eye(points.KINDS, dtype=bool)].any()
    if not differs or high - low <= SAME:
        known = difference.without_spread(settings) if differs else difference.unchanged(settings)
        return replace(known, p=gap.p(), test=test)
    seen = gap.nearest.detectable(settings.level)
    known = replace(difference, low=low, high=high, p=gap.p(), test=test)
    return replace(known, detectable=seen, free=gap.nearest.free)


def _icat_over_terms(tables: Ints) -> Gap | None:
    """None where there are too few terms, or all of them differ alike."""
    if len(tables) < FEW_TERMS:
        return None
    first, second = (side_values(*side) for side in _rates(tables))
    gap = Gap.of(StudentMean.of, first, second)
    return gap if gap.has_spread else None


def _groups(name: str, tables: Ints, sign: int = -1) -> list[Floats]:
    """By term, each item under the second system less the first, or both together, from 50."""
    of = TESTED[name] - 0.5
    both = of[None, :] + sign * of[:, None]
    return [np.repeat(both.ravel(), table.ravel()) for table in tables]


def _differ(groups: Sequence[Floats]) -> bool:
    return any(group.any() for group in groups)


def _over_items(difference: Difference, tables: Ints, settings: Settings) -> Difference:
    first, second = _drawn(difference.slice, tables, settings)
    draws = second[difference.name] - first[difference.name]
    both = second[difference.name] + first[difference.name] - 2 * NULL_VALUE
    groups, test = _groups(difference.name, tables), "sign flips of items, terms held fixed"
    known = difference.measured(draws, sign_flip(groups), test, settings)
    known = known if _differ(groups) else known.unchanged(settings)
    together = sign_flip(_groups(difference.name, tables, 1))
    return known.with_sum(percentile(both, settings.level), together, settings)


def _over_terms(difference: Difference, tables: Ints, settings: Settings) -> Difference:
    groups, sums = (_groups(difference.name, tables, sign) for sign in (-1, 1))
    mean, both = (
        StudentMean.of(np.array([100 * group.mean() for group in of])) for of in (groups, sums)
    )
    known = replace(difference.over_terms(mean, settings), test="paired t over terms")
    if not _differ(groups):
        known = known.unchanged(settings)
    elif mean.error <= SAME:
        known = replace(known, p=sign_flip(groups), test="sign flips of items: all terms agree")
    p = both.p() if both.error > SAME else sign_flip(sums)
    return known.with_sum(both.interval(settings.level), p, settings)


def _rates(tables: Ints) -> list[tuple[Floats, Floats]]:
    """lms and ss of every term, for the first system and for the second."""
    return [points.rates(tables.sum(axis=axis)) for axis in (2, 1)]


def _drawn(slice_: Slice, tables: Ints, settings: Settings) -> list[dict[str, Floats]]:
    """Averages of both systems on items drawn again within each term, the same for both."""
    turned = np.ascontiguousarray(tables.transpose(0, 2, 1))
    if turned.tobytes() < tables.tobytes():
        # Either order of the systems draws the same resamples: differences only change sign.
        return _drawn(slice_, turned, settings)[::-1]
    rng = generator(settings.seed, slice_, "compare")
    outcomes = np.divmod(np.arange(points.KINDS**2), points.KINDS)
    values = [of[side] for side in outcomes for of in (points.LMS_OF, points.SS_OF)]
    rows = tables.reshape(len(tables), -1)
    drawn = resampled_means(rows, values, settings.resamples, rng, settings.level)
    n, ones = tables.sum(axis=(1, 2)), np.ones(len(tables))
    return [points.averages(100 * drawn[at], 100 * drawn[at + 1], n, ones) for at in (0, 2)]


def shifts(
    scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
) -> Iterator[Shift]:
    """Outcomes by target term, those of kept items in the second half of a row."""
    entries = (
        (
            score,
            points.outcome(score.values, settings.variant).index
            + points.KINDS * (score.item in keep),
        )
        for score in scores
    )
    table = points.counted(entries, (2 * points.KINDS,))
    for slice_ in [{}] if overall else points.headline_slices(table):
        rows = table.within(slice_).rows
        if rows.size:
            yield from _moved(slice_, rows, settings)


def _halves(rows: Ints) -> tuple[Ints, Ints]:
    """Of all items, and of those kept; the last axis holds the outcomes of both."""
    return rows[..., : points.KINDS] + rows[..., points.KINDS :], rows[..., points.KINDS :]


def _moved(slice_: Slice, rows: Ints, settings: Settings) -> Iterator[Shift]:
    whole, kept = _halves(rows)
    names = ("ss",) if whole[:, points.NO_LMS].any() else points.HEADLINE
    values, left = (_averaged(part, np.ones(len(rows))) for part in (whole, kept))
    for name in names:
        value, after = float(values[name]), float(left[name])
        shift = Shift(
            name, slice_, points.IDEALS[name], value, int(whole.sum()), after, int(kept.sum())
        )
        yield _spanned(shift, rows, settings) if kept.any() else shift.without("no item is left")


def _spanned(shift: Shift, rows: Ints, settings: Settings) -> Shift:
    """Over the terms, where enough of them are left and they do not all move alike."""
    whole, kept = _halves(rows)
    if not (whole - kept).any():
        return shift.spanned((0.0, 0.0), "none: every item is kept")
    if int(kept.any(axis=1).sum()) >= FEW_TERMS:
        known = _terms_moved(shift.name, whole, kept)
        low, high = known.interval(settings.level)
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
    of_terms = points.rates(np.where(there[:, None], outcomes, 1))
    return [PerUnit(of * there, there.astype(np.float64)).values(weights) for of in of_terms]


def _averaged(outcomes: Ints, weights: Floats | Ints) -> dict[str, Floats]:
    """Averages over the terms that have items, the last but one axis."""
    n = outcomes.sum(axis=-1)
    there = n > 0
    lms, ss = points.rates(np.where(there[..., None], outcomes, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return points.averages(lms, ss, n, weights * there)


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
    ones = np.ones(len(rows))
    sides = []
    for of, draws in zip(_halves(rows), _halves(drawn), strict=True):
        middle, moved = _averaged(of, ones), _averaged(draws, ones)
        sides.append(
            {name: middle[name] + wider * (moved[name] - middle[name]) for name in ("lms", "ss")}
        )
    if shift.name in TESTED:
        return percentile(sides[1][shift.name] - sides[0][shift.name], settings.level)
    return Gap.of(DrawnValue, *(both_sides(**of) for of in sides)).interval(settings.level)
