"""How often alignment finds what is not there, and what is: random models beside made-up people.

Traits hang together within a dimension, in people (0.81 in the released ratings) and in models.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from stereometer.core.stats.intervals import Floats
from stereometer.core.types import Settings
from stereometer.kinds.traits.align import agreement
from stereometer.kinds.traits.align.agreement import RatedCells
from stereometer.kinds.traits.align.estimates import taus

pytestmark = pytest.mark.long

DIMENSIONS = np.repeat([0, 1, 2], [6, 5, 5])
TRAITS = tuple(f"trait {number}" for number in range(DIMENSIONS.size))
RATERS = 20

Effects = Callable[[int, np.random.Generator], Floats]
"""Scores of so many groups on the traits."""


def by_dimension(groups: int, rng: np.random.Generator) -> Floats:
    """Every group has an effect on each dimension."""
    return 0.9 * rng.normal(size=(groups, 3))[:, DIMENSIONS] + 0.44 * rng.normal(
        size=(groups, len(TRAITS))
    )


def by_trait(groups: int, rng: np.random.Generator) -> Floats:
    """All groups share what is said of a dimension and of a trait."""
    shared = rng.normal(size=3)[DIMENSIONS] + 0.5 * rng.normal(size=len(TRAITS))
    effects: Floats = shared + 0.5 * rng.normal(size=(groups, len(TRAITS)))
    return effects


def noise(groups: int, rng: np.random.Generator) -> Floats:
    return rng.normal(size=(groups, len(TRAITS)))


def people(groups: int, rng: np.random.Generator) -> RatedCells:
    """Raters about means with effects by dimension; half of what they say is shared by groups."""
    means = 50 + 10 * by_dimension(groups, rng) + 8 * by_trait(1, rng)
    tables = tuple(mean + 21.87 * rng.normal(size=(RATERS, len(TRAITS))) for mean in means)
    names = tuple(f"group {number}" for number in range(groups))
    raters = tuple(tuple(str(who) for who in rng.choice(133, RATERS, replace=False)) for _ in names)
    return RatedCells(names, TRAITS, np.zeros(means.shape), tables, raters)


def with_model(cells: RatedCells, model: Floats) -> RatedCells:
    return RatedCells(cells.groups, cells.traits, model, cells.tables, cells.raters)


@pytest.fixture
def few_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "ORDERS", 99)


def rejected(effects: Effects, groups: int, models: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    cells = people(groups, rng)
    ps = [
        agreement.exchanged(with_model(cells, effects(groups, rng)), rng).p for _ in range(models)
    ]
    return float(np.mean(np.array(ps) <= 0.05))


@pytest.mark.usefixtures("few_orders")
@pytest.mark.parametrize("effects", [noise, by_dimension, by_trait])
def test_random_models_differ_from_chance_about_as_often_as_they_should(effects: Effects) -> None:
    assert rejected(effects, 8, 40, 1) <= 6 / 40


def verdicts(models: list[Floats], cells: RatedCells) -> list[str]:
    settings = Settings(resamples=100)
    said = (next(taus(with_model(cells, model), settings)).verdict for model in models)
    return [str(verdict) for verdict in said]


@pytest.mark.usefixtures("few_orders")
@pytest.mark.parametrize("effects", [noise, by_dimension, by_trait])
def test_the_size_of_the_verdict(effects: Effects) -> None:
    rng = np.random.default_rng(2)
    cells = people(25, rng)
    said = verdicts([effects(25, rng) for _ in range(200)], cells)
    share = 1 - said.count("not distinguishable from chance") / len(said)
    sys.stdout.write(f"{effects.__name__}: {share:.3f}\n")
    assert share <= 0.08


@pytest.mark.usefixtures("few_orders")
def test_the_power_of_the_verdict() -> None:
    """A model that is people's means and much noise: tau 0.135 on average."""
    rng = np.random.default_rng(3)
    cells = people(25, rng)
    signal = (cells.people - cells.people.mean()) / cells.people.std()
    models = [0.22 * signal + rng.normal(size=signal.shape) for _ in range(100)]
    size = float(np.mean([with_model(cells, model).tau() or 0.0 for model in models]))
    share = verdicts(models, cells).count("agrees with people") / len(models)
    sys.stdout.write(f"tau {size:.3f}: {share:.3f}\n")
    assert 0.12 <= size <= 0.15
    assert share >= 0.80
