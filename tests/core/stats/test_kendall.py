"""Kendall's tau-b is scipy's, one at a time and many at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from stereometer.core.stats.ranks import FEW, tau_b

values = st.integers(-3, 3).map(float)


@given(st.lists(st.tuples(values, values), min_size=2, max_size=70))
def test_it_is_scipys(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T
    wanted = float(kendalltau(x, y).statistic)
    found = float(tau_b(x, y))
    assert math.isnan(found) if math.isnan(wanted) else found == pytest.approx(wanted, abs=1e-12)


def test_many_at_once_are_each_by_itself() -> None:
    draw = np.random.default_rng(0)
    for n in (5, FEW, FEW + 1):
        x, y = draw.integers(0, 6, (3, 7, n)).astype(float), draw.normal(size=n)
        found = tau_b(x, y)
        assert found.shape == (3, 7)
        assert found[2, 4] == pytest.approx(float(kendalltau(x[2, 4], y).statistic))
