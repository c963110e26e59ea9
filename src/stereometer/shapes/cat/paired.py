"""Two systems on the same CATs: differences of lms, ss and icat, the same resamples for both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from stereometer.shapes.cat.sample import FEW_TERMS, HEADLINE, IDEALS, averages, rates
from stereometer.shapes.cat.spread import SAME, TESTED
from stereometer.shapes.cat.tally import (
    KINDS,
    LMS_OF,
    NO_LMS,
    SS_OF,
    by_term,
    counted,
    headline_slices,
    outcome,
)
from stereometer.shapes.paired import Difference, Withheld, asked_or_withheld
from stereometer.shapes.verdicts import LIKE_THESE, NULL_VALUE, THESE
from stereometer.stats.intervals import Floats, Ints, generator, resampled_clusters, resampled_means
from stereometer.stats.means import StudentMean
from stereometer.stats.tests import bootstrap_p, sign_flip
from stereometer.types import Score, Settings, Slice


def differences(
    both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    """Joint outcomes of both systems, tallied by term and task, then sliced."""
    joint = (
        (pair[0], tuple(outcome(score.values, settings.variant).index for score in pair))
        for pair in both
    )
    tallies = counted(joint, (KINDS, KINDS))
    for slice_ in headline_slices(tallies):
        tables = by_term(tallies, slice_)
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
    first, second = _sides(tables, n, np.ones(len(tables)))
    draws = _draws(slice_, tables, n, few, settings)
    for name in ("ss",) if undefined else HEADLINE:
        values = float(first[name]), float(second[name])
        difference = Difference(
            name, slice_, *values, int(n.sum()), asked, len(tables), IDEALS[name]
        )
        scoped = replace(difference, scope=THESE if few else LIKE_THESE)
        if name not in TESTED:
            p = bootstrap_p(draws[name])
            yield scoped.measured(draws[name], p, "bootstrap", settings)
        elif few:
            p = sign_flip(_groups(name, tables))
            test = "sign flips of items, terms held fixed"
            yield _closer(scoped.measured(draws[name], p, test, settings), tables, sign_flip)
        else:
            yield _closer(_over_terms(scoped, tables, settings), tables, _t)


def _groups(name: str, tables: Ints, sign: int = -1) -> list[Floats]:
    """By term, each item under the second system less the first, or both together, from 50."""
    of = TESTED[name] - 0.5
    both = of[None, :] + sign * of[:, None]
    return [np.repeat(both.ravel(), table.ravel()) for table in tables]


def _over_terms(difference: Difference, tables: Ints, settings: Settings) -> Difference:
    groups = _groups(difference.name, tables)
    mean = StudentMean.of(np.array([100 * group.mean() for group in groups]))
    if mean.error > SAME or not any(group.any() for group in groups):
        return replace(difference.over_terms(mean, settings), test="paired t over terms")
    alike = difference.without_spread(settings)
    return replace(alike, p=sign_flip(groups), test="sign flips of items: all terms agree")


def _t(groups: Sequence[Floats]) -> float:
    mean = StudentMean.of(np.array([100 * group.mean() for group in groups]))
    return mean.p() if mean.error > SAME else sign_flip(groups)


def _closer(
    difference: Difference, tables: Ints, test: Callable[[Sequence[Floats]], float]
) -> Difference:
    """With p that one is closer to 50: neither is where the sum of both is not beyond noise."""
    if difference.ideal != NULL_VALUE:
        return difference
    return replace(
        difference, p_closer=max(difference.p, test(_groups(difference.name, tables, 1)))
    )


def _sides(tables: Ints, n: Ints, weights: Floats | Ints) -> list[dict[str, Floats]]:
    """The averages of the first system and of the second."""
    return [averages(*rates(tables.sum(axis=axis)), n, weights) for axis in (2, 1)]


def _draws(
    slice_: Slice, tables: Ints, n: Ints, few: bool, settings: Settings
) -> dict[str, Floats]:
    turned = np.ascontiguousarray(tables.transpose(0, 2, 1))
    if turned.tobytes() < tables.tobytes():
        # Either order of the systems draws the same resamples: differences only change sign.
        return {name: -draws for name, draws in _draws(slice_, turned, n, few, settings).items()}
    rng = generator(settings.seed, slice_, "compare")
    if few:
        outcomes = np.divmod(np.arange(KINDS**2), KINDS)
        values = [of[side] for side in outcomes for of in (LMS_OF, SS_OF)]
        rows = tables.reshape(len(tables), -1)
        drawn = resampled_means(rows, values, settings.resamples, rng, settings.level)
        ones = np.ones(len(tables))
        sides = [averages(100 * drawn[at], 100 * drawn[at + 1], n, ones) for at in (0, 2)]
    else:
        sides = _sides(tables, n, resampled_clusters(len(tables), settings.resamples, rng))
    return {name: sides[1][name] - sides[0][name] for name in HEADLINE}
