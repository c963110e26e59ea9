"""How far a preference among pairs may be off: over terms where they are known, else over pairs."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import numpy as np

from stereometer.shapes.pair.tally import LOST, TIED, WON, Tables
from stereometer.shapes.verdicts import FEW_TERMS, LIKE_THESE, SAME, THESE
from stereometer.stats.intervals import Floats, Ints, wilson_percent
from stereometer.stats.means import StudentMean
from stereometer.stats.tests import detectable, sign_test

PAIRS_LIKE_THESE = "pairs like these"


class Spread(Protocol):
    """What is known of how far the preference of one slice may be off."""

    @property
    def scope(self) -> str: ...

    @property
    def how(self) -> str: ...

    def interval(self, level: float) -> tuple[float, float]: ...

    def p(self) -> float:
        """That sentences of both kinds win equally often."""
        ...

    def detectable(self, level: float) -> float: ...


def spread(tables: Tables, won: Floats, out_of: Floats) -> Spread:
    """`won` and `out_of` are what a pair lost, tied and won counts, and whether it does."""
    if tables.terms is None:
        return OverPairs(tables.total, won, out_of, PAIRS_LIKE_THESE)
    rows = tables.rows
    if len(rows) < FEW_TERMS:
        return OverPairs(tables.total, won, out_of, THESE)
    over = OverTerms(rows, won, out_of)
    return over if over.has_spread else OverPairs(tables.total, won, out_of, LIKE_THESE)


@dataclass(frozen=True)
class OverPairs:
    """Pairs stand for others like them, or for others of the same few terms."""

    counts: Ints
    won: Floats
    out_of: Floats
    scope: str
    how = "Wilson, ties apart"

    def interval(self, level: float) -> tuple[float, float]:
        return interval(self.counts, self.won, self.out_of, level)

    def p(self) -> float:
        return sign_test(int(self.counts[WON]), int(self.counts[LOST]))

    def detectable(self, level: float) -> float:
        return could_be_seen(self.counts, level)


@dataclass(frozen=True)
class OverTerms:
    """Pairs of one term vary together: Student's t over terms, every pair weighing the same."""

    rows: Ints
    won: Floats
    out_of: Floats
    scope = LIKE_THESE
    how = "t over target terms"

    @property
    def has_spread(self) -> bool:
        return self._decided.error > SAME

    @property
    def _decided(self) -> StudentMean:
        """How many more are won than lost, from 50: ties are no evidence, however they count."""
        balance = self.rows @ np.array([-50.0, 0.0, 50.0])
        return StudentMean.clustered(balance, self.rows.sum(axis=1))

    def interval(self, level: float) -> tuple[float, float]:
        mean = StudentMean.clustered(100 * (self.rows @ self.won), self.rows @ self.out_of)
        low, high = mean.interval(level)
        return max(0.0, low), min(100.0, high)

    def p(self) -> float:
        return self._decided.p()

    def detectable(self, level: float) -> float:
        return self._decided.detectable(level)


def bounds(counts: Ints) -> tuple[float, float]:
    """The preference if all ties were lost, and if all were won."""
    won, total = int(counts[WON]), int(counts.sum())
    return 100 * won / total, 100 * (won + int(counts[TIED])) / total


def interval(counts: Ints, won: Floats, out_of: Floats, level: float) -> tuple[float, float]:
    """Wilson's of the pairs that are decided; the share of ties moves it as it moves the value."""
    decided = int(counts[LOST] + counts[WON])
    tied = float(counts[TIED] * out_of[TIED]) / float(counts @ out_of)
    if not decided:
        return wilson_percent(100 * float(won[TIED]), int(counts[TIED]), level)
    ends = wilson_percent(100 * float(counts[WON]) / decided, decided, level)
    low, high = ((1 - tied) * end + 100 * tied * float(won[TIED]) for end in ends)
    return low, high


def could_be_seen(counts: Ints, level: float) -> float:
    """The difference from 50 that the sign test of as many decided pairs finds."""
    decided = float(counts[LOST] + counts[WON])
    return detectable(50 * sqrt(max(1.0, decided)) / float(counts.sum()), level)
