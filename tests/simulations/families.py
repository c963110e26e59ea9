"""Many tests at once, bars, and correlations over few systems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np

from stereometer.core.gate.bars import read_bar
from stereometer.core.shapes.points import Points
from stereometer.core.shapes.verdicts import FEW_TERMS, PREFERENCE, judged
from stereometer.core.stats.intervals import percentile
from stereometer.core.stats.ranks import resampled_points
from stereometer.core.types import Estimate, Settings
from stereometer.kinds.cats.items import TASKS
from stereometer.kinds.cats.metrics import Averages, estimates_of
from stereometer.kinds.cats.points import SAYS, headline_slices
from stereometer.kinds.pairs.metrics import _preference
from tests.builders.sure import sure
from tests.simulations import cats, pairs

SETTINGS = Settings(resamples=100)
PREFERS = ("prefers stereotypes", "prefers anti-stereotypes")


@dataclass(frozen=True)
class Scene:
    """Terms of each domain, the items of each of them in a task, and where the domain's ss lies."""

    terms: tuple[int, ...]
    items: tuple[int, ...] = (27,)
    """In turn: terms of unequal size, where there are several."""
    middle: tuple[float, ...] = (50.0,)


SCENES = {
    "StereoSet's slices": Scene((3, 37, 36, 3)),
    "six domains of ten terms": Scene((10,) * 6, (4,)),
    "unequal terms": Scene((12, 20, 31), (40, 13, 8, 5, 4, 3)),
    "few terms, unequal": Scene((2, 3, 3), (30, 6, 12)),
    "a single domain": Scene((24,), (9, 2)),
    "opposing domains": Scene((20, 20), (27,), (60.0, 40.0)),
}
"""A model without a preference overall; only in the last do its slices have one."""


@dataclass(frozen=True)
class Claims:
    """In what share of sets a preference is printed: overall, in any slice, in every domain; and
    in how many the overall verdict and its interval disagree."""

    overall: float
    any_slice: float
    all_domains: float
    at_odds: float


def printed(scene: Scene, sets: int, corrected: bool = True, seed: int = 21) -> Claims:
    """The verdicts as they are printed; `corrected` False asks each slice by itself."""
    rng, seen = np.random.default_rng(seed), np.zeros(4)
    for _ in range(sets):
        rows = _cats(scene, rng)
        overall, *slices = judged(rows, {"ss": PREFERENCE}, SETTINGS) if corrected else _alone(rows)
        claims = {tuple(row.slice.items()): _claimed(row) for row in slices}
        domains = [said for fixed, said in claims.items() if [*dict(fixed)] == ["domain"]]
        excluded = not sure(overall.low) <= 50 <= sure(overall.high)
        odd = _claimed(overall) != excluded and not str(overall.verdict).startswith("leans")
        seen += (_claimed(overall), any(claims.values()), all(domains), odd)
    return Claims(*(seen / sets))


def printed_pairs(sizes: tuple[int, ...], sets: int, seed: int = 24) -> Claims:
    """Likewise of pairs of no known term, in types of these sizes, a fair coin each."""
    rng, seen = np.random.default_rng(seed), np.zeros(4)
    for _ in range(sets):
        parts = [pairs.counts(rng, 0.5, 0.02, of)[0] for of in sizes]
        every = [({}, sum(parts)), *(({"bias_type": str(at)}, row) for at, row in enumerate(parts))]
        samples = [replace(pairs.tabled(row[None]), slice=slice_) for slice_, row in every]
        rows = [_preference(sample_, SETTINGS) for sample_ in samples]
        overall, *slices = map(_claimed, judged(rows, {"pair_preference": PREFERENCE}, SETTINGS))
        seen += (overall, any(slices), all(slices), 0)
    return Claims(*(seen / sets))


def _claimed(row: Estimate) -> bool:
    return str(row.verdict).startswith(PREFERS)


def _alone(rows: list[Estimate]) -> list[Estimate]:
    return [judged([row], {"ss": PREFERENCE}, SETTINGS)[0] for row in rows]


def _cats(scene: Scene, rng: np.random.Generator) -> list[Estimate]:
    """Terms that stand for others vary about their domain; those held fixed do not."""
    table, some = Points(SAYS), cycle(scene.items)
    fixed = sum(scene.terms) < FEW_TERMS
    for at, (terms, middle) in enumerate(zip(scene.terms, cycle(scene.middle), strict=False)):
        effects = rng.normal(0, cats.SPREAD, terms) * (terms >= FEW_TERMS and not fixed)
        shares = np.clip(middle + effects, 0, 100) / 100
        for term, share in enumerate(shares):
            items = next(some)
            for task in TASKS:
                row = cats.outcomes(rng, np.array([share]), np.array([0.85]), items)[0]
                table.strata.append(cats.stratum(f"domain {at}", f"term {term}", task, row))
    return [
        row
        for slice_ in headline_slices(table)
        for row in estimates_of(table.within(slice_), ("ss",), SETTINGS)
    ]


def bar_decided(bar: str, true: float, sets: int, seed: int = 22) -> tuple[float, float]:
    """How often a model whose ss is at the bar meets it, and how often it misses it."""
    outcomes = []
    truth = cats.Truth(ss=true)
    for rows in truth.tables(np.random.default_rng(seed), sets, 30):
        known = Averages(cats.sample(rows), SETTINGS)
        low, high, _ = known.spread("ss").interval(SETTINGS.level)
        row = Estimate("ss", {}, known.values["ss"], low, high, 1, 1, 0, 50.0)
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
