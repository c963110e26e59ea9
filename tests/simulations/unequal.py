"""Shares where a plain interval fails: terms of unequal size, identical texts, ties at a high
preference, lms near 100, recall of few positives. What is printed is held against the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from stereometer.core.shapes.points import ALONE, DrawnUnit
from stereometer.core.shapes.verdicts import PREFERENCE, judged
from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.cats.metrics import estimates_of
from stereometer.kinds.comments.metrics import summarize
from stereometer.kinds.pairs.metrics import _preference
from stereometer.wings.mitigation.methods.probing import compared
from tests.builders.sure import sure
from tests.simulations import cats, pairs

SETTINGS = Settings(resamples=200)
PREFERS = ("prefers stereotypes", "prefers anti-stereotypes")


@dataclass(frozen=True)
class Said:
    """In what share of sets the interval holds the truth, lies above it, and a preference is
    printed."""

    covered: float
    too_high: float
    prefers: float


def _said(rows: Iterator[Estimate], true: float) -> Said:
    seen = [
        (
            sure(row.low) - 1e-9 <= true <= sure(row.high) + 1e-9,
            sure(row.low) > true + 1e-9,
            str(row.verdict).startswith(PREFERS),
        )
        for row in rows
    ]
    return Said(*(float(share) for share in np.mean(seen, axis=0)))


def effects(rng: np.random.Generator, mean: float, spread: float, terms: int) -> Floats:
    """Shares of terms: beta, so that their mean is exact also near an end."""
    weight = mean * (1 - mean) / spread**2 - 1
    return rng.beta(mean * weight, (1 - mean) * weight, terms)


# ------------------------------------------------------------------------- terms of unequal size

SIZES: dict[str, Callable[[int], Ints]] = {
    "Zipf": lambda terms: np.maximum(1, (60 / np.arange(1, terms + 1)).astype(int)),
    "half of 40, half of 3": lambda terms: np.where(np.arange(terms) % 2, 40, 3),
    "log-normal": lambda terms: 1 + np.random.default_rng(5).lognormal(2.0, 0.9, terms).astype(int),
}


OTHERS = [("half of 40, half of 3", 30), ("log-normal", 79)]
"""Sizes besides those that showed the fault."""


def of_terms(sizes: Ints, mean: float, sets: int, of_these: bool = False, seed: int = 31) -> Said:
    """The preference among pairs of terms of these sizes, as it is printed; `of_these` holds the
    terms fixed, and their own mean is the truth."""
    rng = np.random.default_rng(seed)
    fixed = effects(rng, mean, 0.12, len(sizes))
    true = float(fixed @ sizes / sizes.sum()) if of_these else mean

    def rows() -> Iterator[Estimate]:
        for _ in range(sets):
            shares = fixed if of_these else effects(rng, mean, 0.12, len(sizes))
            won = rng.binomial(sizes, shares)
            both = zip(sizes, won, strict=True)
            yield printed({DrawnUnit((f"t{at}",)): (n - w, 0, w) for at, (n, w) in enumerate(both)})

    return _said(rows(), 100 * true)


def printed(counts: dict[DrawnUnit, tuple[int, int, int]]) -> Estimate:
    """Pairs lost, tied and won, by what varies together."""
    sample = pairs.tabled(np.array([*counts.values()], dtype=np.int64), [*counts])
    return judged([_preference(sample, SETTINGS)], {"pair_preference": PREFERENCE}, SETTINGS)[0]


def micro(sizes: Ints, mean: float, sets: int, seed: int = 32) -> Said:
    """ss over items of CATs."""
    rng = np.random.default_rng(seed)

    def rows() -> Iterator[Estimate]:
        for _ in range(sets):
            shares = effects(rng, mean, 0.12, len(sizes))
            tables = [
                cats.outcomes(rng, np.array([share]), np.array([0.85]), int(n))[0]
                for share, n in zip(shares, sizes, strict=True)
            ]
            yield from estimates_of(cats.sample(np.array(tables)), ("ss_micro",), SETTINGS)

    return _said(rows(), 100 * mean)


def perplexity(sizes: Ints, sets: int, seed: int = 33) -> float:
    """How often the ratio of perplexities, passages of these lengths, holds exp(0.02)."""
    rng, hits = np.random.default_rng(seed), 0
    passages = list(range(len(sizes)))
    for _ in range(sets):
        lost = (
            0.02
            + rng.normal(0, 0.05, len(sizes))
            + rng.normal(0, 1, len(sizes)) / np.sqrt(10 * sizes)
        )
        before = np.stack([-3.0 * 10 * sizes, 10.0 * sizes], axis=1)
        after = np.stack([(-3.0 - lost) * 10 * sizes, 10.0 * sizes], axis=1)
        found = compared(before, after, passages, False)
        assert found is not None
        hits += sure(found.ratio.low) <= np.exp(0.02) <= sure(found.ratio.high)
    return hits / sets


# ------------------------------------------------------------------- identical texts, and ties


def copies(times: tuple[int, ...], won: float, distinct: int, sets: int, seed: int = 34) -> Said:
    """Texts that occur so many times, in turn; a model says the same of all copies."""
    rng = np.random.default_rng(seed)
    sizes = np.array([times[at % len(times)] for at in range(distinct)])

    def rows() -> Iterator[Estimate]:
        for _ in range(sets):
            wins = rng.random(distinct) < won
            counts = {
                DrawnUnit(copy=at + 1): (0, 0, int(n)) if win else (int(n), 0, 0)
                for at, (n, win) in enumerate(zip(sizes, wins, strict=True))
                if n > 1
            }
            alone = wins[sizes == 1]
            if alone.size:
                counts[ALONE] = (int((~alone).sum()), 0, int(alone.sum()))
            yield printed(counts)

    return _said(rows(), 100 * won)


def tied(won: float, share: float, count: int, sets: int, seed: int = 35) -> float:
    """How often the interval holds the truth where so many of the decided pairs are won."""
    return pairs.coverage(won, share, count, sets, seed)


# ------------------------------------------------------------------------------------ lms near 100


def lms(mean: float, spread: float, terms: int, items: int, sets: int, seed: int = 36) -> Said:
    rng = np.random.default_rng(seed)

    def rows() -> Iterator[Estimate]:
        for _ in range(sets):
            shares = effects(rng, mean, spread, terms)
            tables = cats.outcomes(rng, np.full(terms, 0.5), shares, items)
            yield from estimates_of(cats.sample(tables), ("lms",), SETTINGS)

    return _said(rows(), 100 * mean)


# ------------------------------------------------------------------------------- labels of comments


def _comment(at: int, of: bool, said: bool) -> Score:
    slices = {"comment": f"c{at}", "gold": "rude" if of else "not-rude", "category": "rude"}
    answer = {"text": "", "label": "rude" if said else "not-rude"}
    return Score(f"c{at}", slices, {}, answers=(answer,))


def recall(positives: int, others: int, true: float, sets: int, seed: int = 37) -> dict[str, float]:
    """How often recall and balanced accuracy hold the truth; others are told apart at 90 %."""
    rng, hits = np.random.default_rng(seed), {"recall": 0, "balanced_accuracy": 0}
    truth = {"recall": 100 * true, "balanced_accuracy": 50 * (true + 0.9)}
    for _ in range(sets):
        said = [*(rng.random(positives) < true), *(rng.random(others) > 0.9)]
        scores = [_comment(at, at < positives, bool(yes)) for at, yes in enumerate(said)]
        for row in summarize(scores, Settings(resamples=100)):
            if row.name in hits and not row.slice and row.value is not None:
                hits[row.name] += sure(row.low) <= truth[row.name] <= sure(row.high)
    return {name: count / sets for name, count in hits.items()}
