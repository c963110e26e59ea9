"""Many tests at once, bars, and correlations over few systems."""

from __future__ import annotations

import numpy as np

from stereometer.findings.gate.bars import read_bar
from stereometer.shapes.cat.sample import TermTally, sample
from stereometer.shapes.cat.spread import spread
from stereometer.shapes.cat.tally import TASKS, headline_slices
from stereometer.shapes.coverage import Coverage
from stereometer.shapes.verdicts import FIXED, HEADLINE, PREFERENCE, judged
from stereometer.stats.intervals import percentile
from stereometer.stats.ranks import resampled_points
from stereometer.types import Estimate, Settings
from tests.simulations import cats

SETTINGS = Settings(resamples=100)
DOMAINS = {"gender": 3, "profession": 37, "race": 36, "religion": 3}
"""Terms of each domain of StereoSet; those of two are held fixed."""


def familywise(sets: int, corrected: bool = True, seed: int = 21) -> dict[str, float]:
    """How often a model without a preference gets one in any slice of a family.

    Terms that stand for others vary about 50; those held fixed are at 50.
    """
    rng, wrong = np.random.default_rng(seed), {HEADLINE: 0, FIXED: 0}
    for _ in range(sets):
        rows = judged(_estimates(rng), {"ss": PREFERENCE}, SETTINGS)
        for family in wrong:
            ps = [
                row.p_adjusted if corrected else row.p for row in rows if row.correction == family
            ]
            wrong[family] += min(p for p in ps if p is not None) < 0.05
    return {family: count / sets for family, count in wrong.items()}


def _estimates(rng: np.random.Generator) -> list[Estimate]:
    tallies = {}
    for domain, terms in DOMAINS.items():
        effects = rng.normal(0, cats.SPREAD, terms) * (terms >= 10)
        for task in TASKS:
            shares = np.clip(50 + effects, 0, 100) / 100
            tables = cats.outcomes(rng, shares, np.full(terms, 0.85), 27)
            for at, row in enumerate(tables):
                tallies[domain, f"term {at}", task] = TermTally(
                    row, coverage=Coverage(int(row.sum()))
                )
    rows = []
    for slice_ in headline_slices(tallies):
        known = spread(part := sample(tallies, slice_), SETTINGS)
        value = part.point["ss"]
        low, high = known.interval("ss", SETTINGS.level)[:2]
        row = Estimate("ss", slice_, value, low, high, 1, 1, 0, 50.0, p=known.p("ss"))
        rows.append(Estimate(**{**vars(row), "scope": known.scope, "detectable": 0.0}))
    return rows


def bar_decided(bar: str, true: float, sets: int, seed: int = 22) -> tuple[float, float]:
    """How often a model whose ss is at the bar meets it, and how often it misses it."""
    outcomes = []
    truth = cats.Truth(ss=true)
    for rows in truth.tables(np.random.default_rng(seed), sets, 30):
        part = cats.sample(rows)
        low, high, _ = spread(part, SETTINGS).interval("ss", SETTINGS.level)
        row = Estimate("ss", {}, part.point["ss"], low, high, 1, 1, 0, 50.0)
        outcomes.append(read_bar(bar).outcome(row))
    return outcomes.count("met") / sets, outcomes.count("missed") / sets


def rho_coverage(systems: int, rho: float, sets: int, seed: int = 23) -> float:
    """How often the interval over systems holds Spearman's rho of a normal pair."""
    rng, hits = np.random.default_rng(seed), 0
    true = 6 / np.pi * np.arcsin(rho / 2)
    for _ in range(sets):
        x = rng.normal(size=systems)
        y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=systems)
        low, high = percentile(resampled_points(x, y, 400, rng), 0.95)
        hits += low <= true <= high
    return hits / sets
