"""A model before and after a mitigation, and its control, on CATs: how often each verdict comes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from stereometer.core.shapes.differences import Difference
from stereometer.core.stats.intervals import Ints
from stereometer.core.types import Settings
from stereometer.kinds.cats import differences as changes
from stereometer.kinds.cats.points import KINDS
from stereometer.wings.mitigation.methods.probing import compared
from stereometer.wings.mitigation.verdicts.judged import Effect, KeptMetric, verdict_of
from tests.simulations.cats import tabled

SETTINGS = Settings(resamples=100)
DOMAIN, REST, ITEMS = 30, 49, 53
"""Target terms of the mitigation's domain, of the others, and items a term: as in StereoSet."""
CHURN = 0.05
"""Share of items that a change without any aim decides again."""
SPREAD, LMS_SPREAD = 4.7, 3.0
"""Of ss and lms over terms, in points."""


@dataclass(frozen=True)
class Truth:
    """In percent: ss of the domain, and lms."""

    ss: float = 60.0
    lms: float = 80.0


BEFORE = Truth()


class Terms:
    """Items of terms whose effects all systems share."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        terms = DOMAIN + REST
        self.effects = rng.normal(size=(2, terms)) * [[SPREAD], [LMS_SPREAD]]
        self.lots = rng.random((3, terms, ITEMS))

    def outcomes(self, truth: Truth) -> Ints:
        """Of each item, as the shape counts them: won or lost for ss, and lms by how many."""
        fresh = self.rng.random(self.lots.shape) < CHURN
        lots = 100 * np.where(fresh, self.rng.random(self.lots.shape), self.lots)
        domain = np.arange(DOMAIN + REST) < DOMAIN
        ss = np.where(domain, truth.ss, BEFORE.ss) + self.effects[0]
        lms = truth.lms + self.effects[1]
        won = lots[0] < ss[:, None]
        beaten = (lots[1:] < lms[:, None]).sum(axis=0)
        return np.asarray(12 * won + 2 * beaten)


def joint(first: Ints, second: Ints) -> Ints:
    """Terms x outcomes of the first x outcomes of the second."""
    tables = np.zeros((len(first), KINDS, KINDS), dtype=np.int64)
    np.add.at(tables, (np.arange(len(first))[:, None], first, second), 1)
    return tables


def row(name: str, tables: Ints) -> Difference:
    """As `compare` judges it in a family of one."""
    rows = changes.differences(tabled(tables), int(tables.sum()), SETTINGS)
    (known,) = [each for each in rows if each.name == name]
    return known.judged(known.p_closer, SETTINGS.level)


def verdict(rng: np.random.Generator, before: Truth, after: Truth, control: Truth | None) -> str:
    terms = Terms(rng)
    first, second = terms.outcomes(before), terms.outcomes(after)
    kept = KeptMetric("simulated", row("lms", joint(first, second)))
    domain = slice(DOMAIN)
    effect = Effect.of(row("ss", joint(first[domain], second[domain])))
    if control is not None:
        beside = terms.outcomes(control)[domain]
        effect = effect.beside(
            row("ss", joint(beside, second[domain])), row("ss", joint(first[domain], beside))
        )
    return str(verdict_of(kept, (effect,), control is not None))


def verdicts(
    sets: int, after: Truth, control: Truth | None = BEFORE, before: Truth = BEFORE, seed: int = 1
) -> dict[str, float]:
    """Shares of verdicts."""
    rng = np.random.default_rng(seed)
    counts = Counter(verdict(rng, before, after, control) for _ in range(sets))
    return {name: count / sets for name, count in counts.items()}


def coverage(sets: int, after: float, seed: int = 2) -> float:
    """How often the interval of the change of the distance from 50 holds the true change."""
    rng, hits = np.random.default_rng(seed), 0
    true = abs(after - 50) - abs(BEFORE.ss - 50)
    for _ in range(sets):
        terms = Terms(rng)
        tables = joint(terms.outcomes(BEFORE)[:DOMAIN], terms.outcomes(Truth(after))[:DOMAIN])
        closeness = Effect.of(row("ss", tables)).from_base
        hits += closeness.low <= true <= closeness.high
    return hits / sets


# -------------------------------------------------------------------------------------- perplexity

PASSAGES, WITH_TWO = 91, 0.09
"""As many as hold 100 drawn sentences of Wikipedia, and the share of them that holds two."""


def perplexity_coverage(sets: int, spread: float, shared: float, loss: float, seed: int) -> float:
    """How often the interval of the ratio holds the true one. Every token loses something of its
    log-likelihood, a passage's tokens something in common."""
    rng = np.random.default_rng(seed)
    return float(np.mean([_covered(rng, spread, shared, loss) for _ in range(sets)]))


def _covered(rng: np.random.Generator, spread: float, shared: float, loss: float) -> bool:
    sizes = 1 + (rng.random(PASSAGES) < WITH_TWO)
    passages = np.repeat(np.arange(PASSAGES), sizes)
    tokens = rng.integers(6, 55, len(passages))
    common = rng.normal(0, shared, PASSAGES)[passages]
    lost = tokens * (loss + common) + np.sqrt(tokens) * rng.normal(0, spread, len(passages))
    before = np.column_stack([-4.0 * tokens, tokens]).astype(float)
    after = before - np.column_stack([lost, np.zeros(len(tokens))])
    cost = compared(before, after, passages.tolist(), pseudo=False)
    assert cost is not None
    return bool(cost.ratio.low <= np.exp(loss) <= cost.ratio.high)
