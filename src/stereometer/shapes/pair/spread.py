"""How far a preference among pairs may be off, ties apart."""

from __future__ import annotations

from math import sqrt

from stereometer.shapes.pair.tally import LOST, TIED, WON
from stereometer.stats.intervals import Floats, Ints, wilson_percent
from stereometer.stats.tests import detectable

LIKE_THESE = "pairs like these"


def bounds(counts: Ints) -> tuple[float, float]:
    """The preference if all ties were lost, and if all were won."""
    won, total = int(counts[WON]), int(counts.sum())
    return 100 * won / total, 100 * (won + int(counts[TIED])) / total


def interval(counts: Ints, won: Floats, out_of: Floats, level: float) -> tuple[float, float]:
    """Wilson's of the pairs that are decided; the share of ties moves it as it moves the value.

    `won` and `out_of` are what a pair lost, tied and won counts, and whether it does.
    """
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
