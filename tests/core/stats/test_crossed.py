"""Means over items and wordings, against the analysis of variance done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from stereometer.core.stats.crossed import Crossed
from stereometer.core.stats.intervals import Floats


def table(items: int = 12, wordings: int = 6, effect: float = 4.0) -> Floats:
    rng = np.random.default_rng(3)
    shown: Floats = rng.normal(50, 10, (items, wordings)) + rng.normal(0, 15, (items, 1))
    return shown + effect * np.arange(wordings)


def alike(values: Floats) -> Crossed:
    items, wordings = values.shape
    one_set = np.zeros(wordings, dtype=np.int64)
    return Crossed(values, np.full(items, 1 / items), one_set, {0: 1.0})


def squares(values: Floats) -> tuple[float, float, float]:
    """Mean squares of items, of wordings and of what is left."""
    items, wordings = values.shape
    rows, columns, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    rest = values - rows[:, None] - columns + mean
    return (
        wordings * ((rows - mean) ** 2).sum() / (items - 1),
        items * ((columns - mean) ** 2).sum() / (wordings - 1),
        (rest**2).sum() / ((items - 1) * (wordings - 1)),
    )


def test_a_balanced_table_gives_the_analysis_of_variance() -> None:
    values = table()
    of_items, of_wordings, of_rest = squares(values)
    crossed = alike(values)
    variance = (of_items + of_wordings - of_rest) / values.size
    parts = (of_items**2 / 11 + of_wordings**2 / 5 + of_rest**2 / 55) / values.size**2
    assert crossed.mean.value == pytest.approx(values.mean())
    assert crossed.mean.error**2 == pytest.approx(variance)
    assert crossed.mean.free == pytest.approx(variance**2 / parts)
    spread = crossed.spread
    assert spread.value**2 == pytest.approx((of_wordings - of_rest) / 12)
    assert spread.p == pytest.approx(stats.f.sf(of_wordings / of_rest, 5, 55))


def test_the_lower_end_of_the_spread_is_above_0_just_where_its_side_of_the_test_is() -> None:
    for effect in np.linspace(0, 8, 33):
        spread = alike(table(effect=float(effect))).spread
        assert (spread.interval(0.95)[0] > 0) == (spread.p < 0.025)


def test_wordings_that_do_nothing_leave_the_interval_of_the_items() -> None:
    values = np.repeat(table(wordings=1), 6, axis=1) + 1e-3 * table(effect=0.0)
    crossed = alike(values)
    assert crossed.mean.error == pytest.approx(crossed.over_units.error, rel=1e-3)


def test_items_that_all_do_alike_prove_nothing_of_wordings() -> None:
    spread = alike(np.tile([40.0, 50.0, 60.0], (8, 1))).spread
    assert spread.p == 1.0
    assert not spread.has_noise
    assert spread.value == pytest.approx(10.0)


def test_a_difference_of_two_sets_has_the_error_of_the_wordings_of_both() -> None:
    values = table(effect=12.0)
    values[:, 3:] += np.random.default_rng(4).normal(0, 20, (12, 1))
    sets = np.array([0, 0, 0, 1, 1, 1])
    crossed = Crossed(values, np.full(12, 1 / 12), sets, {0: -1.0, 1: 1.0})
    moved = values[:, 3:].mean(axis=1) - values[:, :3].mean(axis=1)
    assert crossed.mean.value == pytest.approx(moved.mean())
    between = sum(values.mean(axis=0)[at].var(ddof=1) / 3 for at in (slice(3), slice(3, 6)))
    noises = sum(squares(values[:, at])[2] / 36 for at in (slice(3), slice(3, 6)))
    assert crossed.mean.error**2 == pytest.approx(moved.var(ddof=1) / 12 + between - noises)


def test_one_more_wording_may_lie_further_off_than_their_mean() -> None:
    crossed = alike(table())
    low, high = crossed.another(0.95)
    inner = crossed.mean.interval(0.95)
    assert low < inner[0]
    assert inner[1] < high
