"""Two systems on the same CATs: differences of lms, ss and icat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from stereometer.shapes.cat.metrics import TESTED, Drawn, Gap, side_values, sides
from stereometer.shapes.cat.points import (
    HEADLINE,
    IDEALS,
    KINDS,
    LMS_OF,
    NO_LMS,
    SS_OF,
    averages,
    counted,
    headline_slices,
    outcome,
    rates,
)
from stereometer.shapes.differences import Difference, Withheld, asked_or_withheld
from stereometer.shapes.verdicts import FEW_TERMS, LIKE_THESE, NULL_VALUE, SAME, THESE
from stereometer.stats.intervals import Floats, Ints, generator, percentile, resampled_means
from stereometer.stats.means import StudentMean
from stereometer.stats.tests import sign_flip
from stereometer.types import Score, Settings, Slice


def differences(
    both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    """Joint outcomes of both systems, by term."""
    joint = (
        (pair[0], tuple(outcome(score.values, settings.variant).index for score in pair))
        for pair in both
    )
    table = counted(joint, (KINDS, KINDS))
    for slice_ in headline_slices(table):
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
    undefined = any(tables.sum(axis=axes)[NO_LMS].any() for axes in ((0, 2), (0, 1)))
    n, few = tables.sum(axis=(1, 2)), len(tables) < FEW_TERMS
    first, second = (averages(*side, n, np.ones(len(tables))) for side in _rates(tables))
    for name in ("ss",) if undefined else HEADLINE:
        values = float(first[name]), float(second[name])
        difference = Difference(
            name, slice_, *values, int(n.sum()), asked, len(tables), IDEALS[name]
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
        gap = Gap.of(Drawn, *(sides(side["lms"], side["ss"]) for side in drawn))
        test = "bootstrap of items"
        difference = replace(difference, floor=2 / (1 + settings.resamples))
    low, high = gap.interval(settings.level)
    differs = tables.sum(axis=0)[~np.eye(KINDS, dtype=bool)].any()
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
    return [rates(tables.sum(axis=axis)) for axis in (2, 1)]


def _drawn(slice_: Slice, tables: Ints, settings: Settings) -> list[dict[str, Floats]]:
    """Averages of both systems on items drawn again within each term, the same for both."""
    turned = np.ascontiguousarray(tables.transpose(0, 2, 1))
    if turned.tobytes() < tables.tobytes():
        # Either order of the systems draws the same resamples: differences only change sign.
        return _drawn(slice_, turned, settings)[::-1]
    rng = generator(settings.seed, slice_, "compare")
    outcomes = np.divmod(np.arange(KINDS**2), KINDS)
    values = [of[side] for side in outcomes for of in (LMS_OF, SS_OF)]
    rows = tables.reshape(len(tables), -1)
    drawn = resampled_means(rows, values, settings.resamples, rng, settings.level)
    n, ones = tables.sum(axis=(1, 2)), np.ones(len(tables))
    return [averages(100 * drawn[at], 100 * drawn[at + 1], n, ones) for at in (0, 2)]
