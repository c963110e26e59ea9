"""What a pair says, lost, tied or won, what that adds to the preference, and how far that may be
off: over terms where they are known, else over pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import hypot, sqrt

import numpy as np

from stereometer.core.shapes.points import (
    KINDS,
    LOST,
    TIE,
    TIED,
    WON,
    Place,
    Points,
    PointSample,
    term,
)
from stereometer.core.shapes.spread import Spread, over_units
from stereometer.core.shapes.verdicts import LIKE_THESE, SAME, THESE
from stereometer.core.stats.intervals import Floats, Ints, wilson, wilson_percent
from stereometer.core.stats.means import PerUnit
from stereometer.core.stats.tests import detectable, sign_test
from stereometer.core.types import Score, Slice, Variant
from stereometer.kinds.pairs.items import BIAS_TYPE, DIRECTION, DIRECTIONS, TARGET


def decision(values: Mapping[str, float], variant: Variant) -> float:
    """1 where sent_more wins, 0 where sent_less does, 0.5 for a tie.

    Under `paper` a tie is what is equal after rounding to 3 decimals.
    """
    more, less = values["sent_more"], values["sent_less"]
    if variant == "paper":
        more, less = round(more, 3), round(less, 3)
        return 0.5 if more == less else float(more > less)
    return 0.5 if abs(more - less) < TIE else float(more > less)


def kind(score: Score, variant: Variant) -> int:
    """Lost, tied or won."""
    return int(2 * decision(score.values, variant))


def counted(
    entries: Iterable[tuple[Score, Place | None]], shape: tuple[int, ...] = (KINDS,)
) -> Points:
    return Points.of(entries, lambda score: term(score.slices, (TARGET,)), shape)


def tallied(scores: Iterable[Score], variant: Variant) -> Points:
    """By what each pair says."""
    return counted(
        (score, kind(score, variant) if score.skipped is None else None) for score in scores
    )


def slices(points: Points) -> list[Slice]:
    """Every slice that pairs count in, in order."""
    known = {each for of in points.strata for each in of.slices.items() if each[0] != TARGET}
    return [{}, *sorted(({name: value} for name, value in known), key=order)]


def order(slice_: Slice) -> tuple[object, ...]:
    """Overall, then directions, the stereotypes first, then bias types, then what else a benchmark
    slices by, each by name."""
    against = slice_.get(DIRECTION) == DIRECTIONS[1]
    other = not slice_.keys() <= {DIRECTION, BIAS_TYPE}
    return len(slice_), other, BIAS_TYPE in slice_, against, *slice_.items()


def points(variant: Variant, slice_: Slice) -> tuple[Floats, Floats]:
    """What a pair lost, tied and won counts for sent_more, and how much it counts at all.

    `paper` keeps ties in the denominator, except where a direction is fixed: there its script
    leaves them out. `sound` gives a tie one half.
    """
    tie = 0.5 if variant == "sound" else 0.0
    weight = 0.0 if variant != "sound" and DIRECTION in slice_ else 1.0
    return np.array([0.0, tie, 1.0]), np.array([1.0, weight, 1.0])


def preference(counts: Ints | Floats, won: Floats, out_of: Floats) -> Floats:
    """In percent, from counts of kinds (last axis) and what each counts; NaN where none does."""
    with np.errstate(invalid="ignore", divide="ignore"):
        percent: Floats = 100 * (counts @ won) / (counts @ out_of)
    return percent


PAIRS_LIKE_THESE = "pairs like these"
HALF = 0.5


def spread(sample: PointSample, won: Floats, out_of: Floats) -> Spread:
    """`won` and `out_of` are what a pair lost, tied and won counts, and whether it does."""
    if sample.terms is None or sample.fixed_terms:
        scope = PAIRS_LIKE_THESE if sample.terms is None else THESE
        return over_pairs(sample.total, won, out_of, scope, sample.independent)
    return _over_terms(sample.rows, won, out_of) or over_pairs(
        sample.total, won, out_of, LIKE_THESE
    )


def over_pairs(
    pairs: Ints, won: Floats, out_of: Floats, scope: str, independent: float = 1.0
) -> Spread:
    """Pairs stand for others like them, or for others of the same few terms; they count as the
    share of them that is independent, identical texts being one."""
    counts = independent * pairs.astype(np.float64)
    lost, decided = float(counts[LOST]), float(counts[LOST] + counts[WON])
    how = "Wilson, ties apart" + (", identical texts as one" if independent < 1 else "")
    return Spread(
        float(preference(pairs, won, out_of)),
        lambda level: (*interval(counts, won, out_of, level), how),
        lambda: sign_test(float(counts[WON]), lost),
        "exact sign test over pairs that are not ties",
        # The difference from 50 that the sign test of as many decided pairs finds.
        partial(detectable, 50 * sqrt(max(1.0, decided)) / float(counts.sum())),
        scope=scope,
    )


def _over_terms(rows: Ints, won: Floats, out_of: Floats) -> Spread | None:
    """Pairs of one term vary together: Student's t over terms, every pair weighing the same; None
    where all terms agree."""
    # How many more are won than lost, from 50: ties are no evidence, however they count.
    decided = PerUnit(rows @ np.array([-50.0, 0.0, 50.0]), rows.sum(axis=1)).mean
    if decided.error <= SAME:
        return None
    mean = PerUnit(100 * (rows @ won), rows @ out_of).mean
    return replace(
        over_units(mean, "target terms"),
        p=decided.p,
        test="t over target terms, pairs weighing alike",
        detectable=decided.detectable,
        free=decided.free,
    )


def bounds(counts: Ints) -> tuple[float, float]:
    """The preference if all ties were lost, and if all were won."""
    won, total = int(counts[WON]), int(counts.sum())
    return 100 * won / total, 100 * (won + int(counts[TIED])) / total


def interval(counts: Floats, won: Floats, out_of: Floats, level: float) -> tuple[float, float]:
    """Wilson's, where ties count as lost, not at all, or there are none.

    A tie that counts one half makes the preference 1/2 + a b, with a the share of pairs that are
    decided and b how far they are from one half: both are uncertain, and their intervals are put
    together by the squares of what each moves the value (MOVER, Zou and Donner 2008).
    """
    total, decided = float(counts @ out_of), float(counts[LOST] + counts[WON])
    if won[TIED] != HALF or not decided or decided == total:
        return wilson_percent(100 * float(counts @ won) / total, total, level)
    a, b = decided / total, float(counts[WON]) / decided - HALF
    fewer, more = (abs(end - a) for end in wilson(decided, total, level))
    low, high = (end - HALF for end in wilson(float(counts[WON]), decided, level))
    towards, away = (more, fewer) if b > 0 else (fewer, more)
    below, above = hypot(b * away, a * (b - low)), hypot(b * towards, a * (high - b))
    value = HALF + a * b
    return 100 * max(0.0, value - below), 100 * min(1.0, value + above)
