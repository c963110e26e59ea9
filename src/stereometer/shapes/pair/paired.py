"""Two systems on the same pairs: differences of their preferences, the same resamples for both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from stereometer.shapes.pair.spread import LIKE_THESE
from stereometer.shapes.pair.tally import KINDS, LOST, TIED, WON, counted, kind, points, preference
from stereometer.shapes.paired import Difference, Withheld, asked_or_withheld
from stereometer.stats.intervals import Floats, Ints, generator, resampled_tallies
from stereometer.stats.means import StudentMean
from stereometer.stats.tests import mcnemar
from stereometer.types import Score, Settings, Slice


def differences(
    both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    """What the first system says of a pair by what the second does, counted by slice."""
    joint = ((pair[0], tuple(kind(score, settings.variant) for score in pair)) for pair in both)
    for slice_, table in counted(joint, (KINDS, KINDS)):
        asked = asked_or_withheld(slice_, int(table.sum()), every, settings)
        if isinstance(asked, Withheld):
            yield asked
        elif _has_preferences(table, settings, slice_):
            yield _difference(slice_, table, asked, settings)


def _has_preferences(table: Ints, settings: Settings, slice_: Slice) -> bool:
    """Not where every pair is neutral for one system and neutral pairs do not count."""
    if points(settings.variant, slice_)[1].all():
        return True
    return all(table.sum(axis=axis)[[LOST, WON]].any() for axis in (0, 1))


def _difference(slice_: Slice, table: Ints, asked: int, settings: Settings) -> Difference:
    rng = generator(settings.seed, slice_, "compare")
    # Either order of the systems draws the same resamples: the differences only change sign.
    turned = table.T.tobytes() < table.tobytes()
    tally = (table.T if turned else table).ravel()
    kinds, drawn = resampled_tallies(tally, settings.resamples, rng)
    won, out_of = points(settings.variant, slice_)
    first, second = (
        np.nan_to_num(preference(drawn, won[side], out_of[side]))
        for side in np.divmod(kinds, KINDS)
    )
    draws = (second - first) * (-1 if turned else 1)
    before, after = (float(preference(table.sum(axis=axis), won, out_of)) for axis in (1, 0))
    difference = Difference(
        "pair_preference", slice_, before, after, int(table.sum()), asked, terms=None, ideal=50.0
    )
    measured = replace(difference, scope=LIKE_THESE).measured(draws, *_tested(table), settings)
    if not out_of.all() or int(table.sum()) < 2:
        return measured
    change, both = (StudentMean.of(_items(table, won, sign)) for sign in (-1, 1))
    if not change.has_spread and change.value:
        return replace(measured.without_spread(settings), p_closer=max(measured.p, both.p()))
    over = measured.over_terms(change, settings)
    p = change.p() if _has_ties(table) else measured.p
    return replace(over, p=p, p_closer=max(p, both.p()))


def _items(table: Ints, won: Floats, sign: int) -> Floats:
    """Of each pair what it counts for the second system less the first, or for both, from 50."""
    points_ = 100 * won - 50
    return np.repeat((points_[None, :] + sign * points_[:, None]).ravel(), table.ravel())


def _has_ties(table: Ints) -> bool:
    return bool(table[TIED].any() or table[:, TIED].any())


def _tested(table: Ints) -> tuple[float, str]:
    """McNemar's test counts pairs that changed, and a tie that is resolved is not half a change."""
    gained, lost = int(np.triu(table, 1).sum()), int(np.tril(table, -1).sum())
    return mcnemar(gained, lost), "paired t over pairs" if _has_ties(table) else "McNemar"
