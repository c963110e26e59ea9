"""A thousand submissions of one submitter that are all equally good: what gets published.

Paired tests are those of the package, written for all submissions at once; a test holds them to
the package's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from stereometer.core.stats.intervals import Floats
from stereometer.kinds.cats.metrics import side_values
from stereometer.wings.board.judge import climbs

SUBMISSIONS = 1000
Against = Callable[[int], tuple[Floats, Floats]]
"""From the published submission to p of every submission against it, and how much nearer it is."""


@dataclass(frozen=True)
class World:
    """Submissions in their order."""

    values: Floats
    truth: float
    error: float
    """The standard error of a value."""
    against: Against

    def published(self, rule: Callable[[float, bool, int], bool] = climbs) -> int:
        """The submission whose value is published at the end."""
        best, at = 0, 1
        while at < self.values.size:
            ps, gains = self.against(best)
            later = range(at, self.values.size)
            number = next((n for n in later if rule(ps[n], bool(gains[n] > 0), n + 1)), None)
            if number is None:
                break
            best, at = number, number + 1
        return best

    def off(self, submission: int) -> float:
        """How far its value is from the truth, in standard errors."""
        return float((self.values[submission] - self.truth) / self.error)


def t_p(differences: Floats) -> Floats:
    """Two-sided p that the mean of each row is 0."""
    free = differences.shape[1] - 1
    error = differences.std(axis=1, ddof=1) / np.sqrt(free + 1)
    t = np.divide(
        np.abs(differences.mean(axis=1)), error, out=np.zeros_like(error), where=error > 0
    )
    p: Floats = 2 * stdtr(free, -t)
    return p


# ------------------------------------------------------------------------------------------ worlds


PREFERENCE = 60.0


def pairs(rng: np.random.Generator, count: int = 400) -> World:
    """Pairs, each submission a row of coins that fall for the stereotype in 60 of 100."""
    wins = (rng.random((SUBMISSIONS, count)) < PREFERENCE / 100).astype(float) - 0.5
    values = 100 * (wins.mean(axis=1) + 0.5)

    def against(best: int) -> tuple[Floats, Floats]:
        p = np.maximum(t_p(wins - wins[best]), t_p(wins + wins[best]))
        return p, np.abs(values[best] - 50) - np.abs(values - 50)

    error = np.sqrt(PREFERENCE * (100 - PREFERENCE) / count)
    return World(values, PREFERENCE, float(error), against)


LMS, SS, SPREAD = 85.0, 60.0, 5.0
"""Of every submission, over all terms there are, and how far terms differ (points)."""


def cats(rng: np.random.Generator, terms: int = 79, items: int = 27) -> World:
    """CATs by a good model whose answers are disturbed a little: icat is 68 for all of them."""
    lms, ss = _drawn(rng, LMS, terms, 2 * items), _drawn(rng, SS, terms, items)
    middle, at = lms.mean(axis=1), ss.mean(axis=1)
    sides = [np.array(rows) for rows in zip(*map(side_values, lms, ss), strict=True)]

    def against(best: int) -> tuple[Floats, Floats]:
        return icat_p(sides, best), values - values[best]

    values = middle * np.minimum(at, 100 - at) / 50
    variances = [
        (SPREAD**2 + (mean * (100 - mean)) / n) / terms
        for mean, n in ((LMS, 2 * items), (SS, items))
    ]
    error = np.sqrt((100 - SS) ** 2 * variances[0] + LMS**2 * variances[1]) / 50
    return World(values, LMS * (100 - SS) / 50, float(error), against)


def _drawn(rng: np.random.Generator, mean: float, terms: int, items: int) -> Floats:
    """Percent of each term, by submission; terms are the same for all submissions."""
    shares = np.clip(rng.normal(mean, SPREAD, terms), 0, 100) / 100
    drawn: Floats = 100 * rng.binomial(items, shares, size=(SUBMISSIONS, terms)) / items
    return drawn


def icat_p(sides: list[Floats], best: int) -> Floats:
    """`Gap.p` of every submission that is better: smallest over the sides of the published one of
    the largest over those of the other."""
    rows = []
    for before in sides:
        cells = [after - before[best] for after in sides]
        ps = [np.where(cell.mean(axis=1) > 0, t_p(cell), 1.0) for cell in cells]
        rows.append(np.maximum(*ps))
    p: Floats = np.minimum(*rows)
    return p


def one_error(p: float, nearer: bool, submission: int) -> bool:
    """The bar of the parameter-free Ladder: better by one standard error of the difference."""
    return nearer and p < 0.3173


def anything(p: float, nearer: bool, submission: int) -> bool:
    """A board without a Ladder."""
    return nearer
