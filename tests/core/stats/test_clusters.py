"""The mean over items in clusters: by hand, against the plain t test, and how often its interval
holds the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from stereometer.core.stats.intervals import Floats
from stereometer.core.stats.means import PerUnit, StudentMean


def clustered(parts: Sequence[Floats]) -> StudentMean:
    units = np.repeat(np.arange(len(parts)), [part.size for part in parts])
    return PerUnit.of(units, np.concatenate(parts)).mean


def test_clusters_of_one_item_are_students_t() -> None:
    values = np.array([1.0, -0.5, 2.0, 0.0, 1.5])
    mean = clustered([values[at : at + 1] for at in range(5)])
    plain = stats.ttest_1samp(values, 0.0)
    assert (mean.value, mean.p()) == pytest.approx((1.6 / 2, plain.pvalue))
    assert mean.interval(0.95) == pytest.approx(tuple(plain.confidence_interval(0.95)))


def test_clusters_by_hand() -> None:
    """Sums 2, 0, 3 over 2, 1, 3 items: a mean of 5/6, deviations 1/3, -5/6, 1/2, each widened by
    its own weight; weights of 1/3, 1/6 and 1/2 count as 18/7 clusters."""
    mean = clustered([np.ones(2), np.zeros(1), np.ones(3)])
    error = np.sqrt(1 / 9 / (2 / 3) + 25 / 36 / (5 / 6) + 1 / 4 / (1 / 2)) / 6
    assert mean.value == pytest.approx(5 / 6)
    assert mean.free == pytest.approx(18 / 7 - 1)
    assert mean.interval(0.95)[1] - mean.value == pytest.approx(stats.t.ppf(0.975, 11 / 7) * error)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Fifteen clusters of unequal size whose own means vary: 95 % of intervals hold 0.2."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        parts = [
            rng.normal(0.2 + rng.normal(0, 0.5), 1.0, size=rng.integers(3, 12)) for _ in range(15)
        ]
        low, high = clustered(parts).interval(0.95)
        held += low <= 0.2 <= high
    assert 0.91 <= held / 400 <= 0.98


def test_values_without_spread_prove_nothing() -> None:
    assert clustered([np.ones(2), np.ones(3)]).p() == 1.0
    assert clustered([np.zeros(2), np.zeros(3)]).p() == 1.0
