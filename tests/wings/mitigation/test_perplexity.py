"""Perplexity before and after, from log-likelihoods and counts of tokens."""

from __future__ import annotations

import numpy as np
import pytest

from stereometer.wings.mitigation.methods.probing import compared


def test_the_ratio_is_of_all_tokens_together() -> None:
    before = np.array([[-10.0, 10], [-30.0, 10]])
    after = np.array([[-12.0, 10], [-34.0, 10]])
    cost = compared(before, after, [0, 1], pseudo=False)
    assert cost is not None
    assert cost.before == pytest.approx(np.exp(40 / 20))
    assert cost.after == pytest.approx(np.exp(46 / 20))
    assert cost.ratio.value == pytest.approx(np.exp(6 / 20))
    assert cost.ratio.n == 2


def test_a_sentence_that_fits_one_model_only_is_left_out() -> None:
    before = np.array([[-10.0, 8], [-30.0, 10], [-12.0, 8]])
    after = np.array([[-12.0, 8], [0.0, 0], [-13.0, 8]])
    cost = compared(before, after, [0, 1, 2], pseudo=False)
    assert cost is not None
    assert cost.before == pytest.approx(np.exp(22 / 16))
    assert compared(before, np.zeros((3, 2)), [0, 1, 2], pseudo=False) is None


def test_a_single_passage_has_no_interval() -> None:
    rows = np.array([[-10.0, 5], [-30.0, 10]])
    assert compared(rows, rows - [1, 0], [7, 7], pseudo=False) is None


def test_sentences_of_one_passage_count_as_one() -> None:
    """As if each passage were one long sentence."""
    rng = np.random.default_rng(3)
    before = np.column_stack([-rng.uniform(20, 60, 40), rng.integers(5, 30, 40)])
    after = before - np.column_stack([rng.normal(2, 3, 40), np.zeros(40)])
    passages = rng.permutation(np.repeat(np.arange(10), 4)).tolist()
    whole = [
        np.array([rows[np.array(passages) == number].sum(0) for number in range(10)])
        for rows in (before, after)
    ]
    parts = compared(before, after, passages, pseudo=False)
    together = compared(whole[0], whole[1], list(range(10)), pseudo=False)
    assert parts is not None
    assert together is not None
    assert (parts.ratio.n, together.ratio.n) == (40, 10)
    assert (parts.ratio.low, parts.ratio.high) == pytest.approx(
        (together.ratio.low, together.ratio.high)
    )
