"""Two systems on the same pairs: differences of their preferences, the same resamples for both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from stereometer.shapes.pair.tally import KINDS, LOST, WON, counted, kind, points, preference
from stereometer.shapes.paired import Difference, Withheld, asked_or_withheld
from stereometer.stats.intervals import Ints, generator, resampled_tallies
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
    gained, lost = int(np.triu(table, 1).sum()), int(np.tril(table, -1).sum())
    difference = Difference(
        "pair_preference", slice_, before, after, int(table.sum()), asked, terms=None, ideal=50.0
    )
    return difference.measured(draws, mcnemar(gained, lost), "McNemar", settings)
