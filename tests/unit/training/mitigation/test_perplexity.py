"""Perplexity before and after, from log-likelihoods and counts of tokens."""

from __future__ import annotations

import numpy as np
import pytest

from stereometer.training.mitigation.perplexity import compared


def test_the_ratio_is_of_all_tokens_together() -> None:
    before = np.array([[-10.0, 5], [-30.0, 10]])
    after = np.array([[-12.0, 5], [-34.0, 10]])
    cost = compared(before, after, seed=0, pseudo=False)
    assert cost is not None
    assert cost.before == pytest.approx(np.exp(40 / 15))
    assert cost.after == pytest.approx(np.exp(46 / 15))
    assert cost.ratio.value == pytest.approx(np.exp(6 / 15))
    assert cost.ratio.n == 2


def test_a_passage_that_fits_one_model_only_is_left_out() -> None:
    before = np.array([[-10.0, 5], [-30.0, 10]])
    cost = compared(before, np.array([[-12.0, 5], [0.0, 0]]), seed=0, pseudo=False)
    assert cost is not None
    assert cost.before == pytest.approx(np.exp(10 / 5))
    assert compared(before, np.zeros((2, 2)), seed=0, pseudo=False) is None
