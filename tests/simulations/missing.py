"""Answers that are missing because of what they would have been: what is printed all the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stereometer.core.shapes.points import Points
from stereometer.core.shapes.verdicts import PREFERENCE, judged
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.cats.metrics import estimates_of
from stereometer.kinds.cats.points import KINDS, SAYS
from stereometer.kinds.pairs.metrics import summarize
from tests.builders.sure import sure
from tests.simulations.cats import stratum
from tests.simulations.early import _values

SETTINGS = Settings(resamples=100, coverage=0.5)


@dataclass(frozen=True)
class Said:
    """In what share of sets the interval of the verdict, and the one of the answered items alone,
    hold the truth; a preference is printed; it is called within 5 points of 50."""

    covered: float
    answered: float
    prefers: float
    within: float


def pairs(won: float, count: int, refused: float, sets: int, tied: float = 0.0) -> Said:
    """A share of the pairs that are won goes unanswered."""
    rng = np.random.default_rng(41)
    rows = []
    for _ in range(sets):
        sides = np.where(rng.random(count) < tied, 0.0, np.sign(won - rng.random(count)))
        silent = (sides > 0) & (rng.random(count) < refused)
        scores = [
            Score(f"p{at}", {"bias_type": "age"}, {}, "refused", unanswered=True)
            if no
            else Score(f"p{at}", {"bias_type": "age"}, _values(side))
            for at, (side, no) in enumerate(zip(sides, silent, strict=True))
        ]
        rows.append(next(iter(summarize(scores, SETTINGS))))
    return _said(rows, 100 * (won * (1 - tied) + tied / 2))


def cats(ss: float, terms: int, items: int, refused: float, sets: int) -> Said:
    """Likewise of CATs whose terms vary."""
    rng, rows = np.random.default_rng(42), []
    for _ in range(sets):
        wins = rng.binomial(items, np.clip(rng.normal(ss, 0.047, terms), 0, 1))
        silent = rng.binomial(wins, refused)
        table = Points(SAYS)
        for term, (won, no) in enumerate(zip(wins, silent, strict=True)):
            outcomes = np.zeros(KINDS, dtype=np.int64)
            outcomes[[4, 16]] = items - won, won - no
            table.strata.append(stratum("d", f"t{term}", "intrasentence", outcomes, int(no)))
        estimates = estimates_of(table.within({}), ("ss",), SETTINGS)
        rows += judged(estimates, {"ss": PREFERENCE}, SETTINGS)
    return _said(rows, 100 * ss)


def _said(rows: list[Estimate], true: float) -> Said:
    seen = []
    for row in rows:
        (low, high), words = row.ends, str(row.verdict)
        seen.append(
            (
                sure(low) <= true <= sure(high),
                sure(row.low) <= true <= sure(row.high),
                words.startswith("prefers"),
                "within 5 points" in words or "by less than" in words,
            )
        )
    return Said(*(float(share) for share in np.mean(seen, axis=0)))
