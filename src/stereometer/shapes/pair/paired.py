"""Two systems on the same pairs: differences of their preferences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from stereometer.shapes.pair.items import TARGET
from stereometer.shapes.pair.spread import PAIRS_LIKE_THESE
from stereometer.shapes.pair.tally import (
    KINDS,
    LOST,
    TIED,
    WON,
    Tables,
    counted,
    kind,
    points,
    preference,
    single,
)
from stereometer.shapes.paired import Difference, Withheld, asked_or_withheld
from stereometer.shapes.verdicts import FEW_TERMS, LIKE_THESE, SAME, THESE
from stereometer.stats.intervals import Floats, Ints
from stereometer.stats.means import StudentMean, shares
from stereometer.stats.tests import mcnemar
from stereometer.types import Score, Settings, Slice


def differences(
    both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    """What the first system says of a pair by what the second does, counted by slice."""
    joint = (
        (_with_term(*pair), tuple(kind(score, settings.variant) for score in pair)) for pair in both
    )
    for slice_, tables in counted(joint, (KINDS, KINDS)):
        table = tables.total
        asked = asked_or_withheld(slice_, int(table.sum()), every, settings)
        if isinstance(asked, Withheld):
            yield asked
        elif _has_preferences(table, settings, slice_):
            yield _difference(slice_, tables, asked, settings)


def _with_term(first: Score, second: Score) -> Score:
    """Runs of before do not say of which term a pair is."""
    return first if TARGET in first.slices else second


def _has_preferences(table: Ints, settings: Settings, slice_: Slice) -> bool:
    """Not where every pair is neutral for one system and neutral pairs do not count."""
    if points(settings.variant, slice_)[1].all():
        return True
    return all(table.sum(axis=axis)[[LOST, WON]].any() for axis in (0, 1))


def _difference(slice_: Slice, tables: Tables, asked: int, settings: Settings) -> Difference:
    table, (won, out_of) = tables.total, points(settings.variant, slice_)
    before, after = (float(preference(table.sum(axis=axis), won, out_of)) for axis in (1, 0))
    rows, scope = _rows(tables)
    difference = Difference(
        "pair_preference",
        slice_,
        before,
        after,
        int(table.sum()),
        asked,
        terms=tables.terms,
        ideal=50.0,
        scope=scope,
    )
    p, test = _tested(table)
    if len(rows) < 2:
        return replace(difference.without_spread(settings), p=p, test=test)
    first, second = (_one_a_row(rows.sum(axis=axis), won, out_of) for axis in (2, 1))
    change, both = StudentMean.of(second - first), StudentMean.of(first + second - 100)
    if change.error <= SAME and difference.difference:
        alike = replace(difference.without_spread(settings), p=p, test=test)
        known = alike.with_sum(both.interval(settings.level))
        return replace(known, p_closer=max(p, both.p()))
    if scope == LIKE_THESE:
        p, test = change.p(), "paired t over terms, pairs weighing alike"
    elif _has_ties(table):
        p, test = change.p(), "paired t over pairs"
    over = difference.over_terms(change, settings).with_sum(both.interval(settings.level))
    return replace(over, p=p, test=test, p_closer=max(p, both.p()))


def _rows(tables: Tables) -> tuple[Ints, str]:
    """What varies as a whole, and what that speaks of: terms, or pairs."""
    rows = tables.rows if tables.terms else single(tables.total)
    if tables.terms is None:
        return rows, PAIRS_LIKE_THESE
    return (rows, LIKE_THESE) if len(rows) >= FEW_TERMS else (single(tables.total), THESE)


def _one_a_row(counts: Ints, won: Floats, out_of: Floats) -> Floats:
    return shares(100 * (counts @ won), counts @ out_of)


def _has_ties(table: Ints) -> bool:
    return bool(table[TIED].any() or table[:, TIED].any())


def _tested(table: Ints) -> tuple[float, str]:
    """McNemar's test counts pairs that changed, and a tie that is resolved is not half a change."""
    gained, lost = int(np.triu(table, 1).sum()), int(np.tril(table, -1).sum())
    return mcnemar(gained, lost), "McNemar"
