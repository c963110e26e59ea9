"""SeT's distance: the checked cases, the definition solved by a generic solver, and the edges."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from stereometer.models.local.set_distance import set_distances
from tests.builders.set_distance import by_rule
from tests.conftest import released


@pytest.mark.golden
def test_the_checked_cases() -> None:
    """set_distance_vectors.json: 16 cases, checked with a QP solver and the authors' code."""
    cases = json.loads(released("abc/set_distance_vectors.json").read_text())
    assert len(cases) == 16
    for case in cases:
        matrix, bias, state = (np.array(case[name]) for name in ("W", "b", "h"))
        (found,) = set_distances(matrix @ state + bias, [case["target"]], state @ state + 1)
        assert found == pytest.approx(case["distance"], abs=1e-9)
        log1m = case["log1m"]
        assert (log1m is None) == (found >= 1)
        assert log1m is None or np.log1p(-found) == pytest.approx(log1m, abs=1e-9)


def by_solver(matrix: np.ndarray, state: np.ndarray, target: int, margin: float) -> float:
    """The definition itself, over every entry of the matrix: min ||W' - W|| with the target on top
    by the margin."""
    rows, width = matrix.shape
    others = [row for row in range(rows) if row != target]

    def leads(change: np.ndarray) -> np.ndarray:
        logits = (matrix + change.reshape(rows, width)) @ state
        return np.asarray(logits[target] - logits[others] - margin)

    slope = np.zeros((len(others), rows, width))
    slope[:, target] = state
    for number, row in enumerate(others):
        slope[number, row] = -state
    found = minimize(
        lambda change: 0.5 * change @ change,
        np.zeros(rows * width),
        jac=lambda change: change,
        constraints={
            "type": "ineq",
            "fun": leads,
            "jac": lambda change: slope.reshape(len(others), -1),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.success or leads(found.x).min() > -1e-7
    return float(np.linalg.norm(found.x))


@given(
    st.integers(0, 10**6),
    st.integers(2, 7),
    st.integers(1, 4),
    st.sampled_from([0.1, 1.0, 3.5]),
    st.floats(0.05, 3),
)
@settings(max_examples=80, deadline=None)
def test_it_is_what_a_generic_solver_finds(
    seed: int, rows: int, width: int, margin: float, scale: float
) -> None:
    draw = np.random.default_rng(seed)
    matrix, state = draw.normal(size=(rows, width)) * scale, draw.normal(size=width) + 0.5
    found = set_distances(matrix @ state, range(rows), float(state @ state), margin)
    for target in range(rows):
        solved = by_solver(matrix, state, target, margin)
        assert found[target] == pytest.approx(solved, rel=1e-7, abs=2e-6)


finite = st.floats(-30, 30, allow_nan=False).map(lambda value: round(value, 1))
"""One decimal, so that ties and exact margins are common."""


@given(
    st.lists(finite, min_size=2, max_size=40), st.sampled_from([0.5, 1.0, 2.0]), st.floats(0.1, 900)
)
def test_it_is_the_rule_written_out_with_ties_and_winners(
    logits: list[float], margin: float, squared_norm: float
) -> None:
    row = np.array(logits)
    found = set_distances(row, range(len(row)), squared_norm, margin)
    for target, distance in enumerate(found):
        assert distance == pytest.approx(
            by_rule(row, target, squared_norm, margin), rel=1e-9, abs=1e-9
        )


@pytest.mark.long
@given(st.integers(0, 10**6), st.floats(0.001, 4))
@settings(max_examples=30, deadline=None)
def test_sorting_only_the_largest_logits_changes_nothing(seed: int, spread: float) -> None:
    """Flat rows need more than the first 256, and get them."""
    draw = np.random.default_rng(seed)
    row, targets = draw.normal(size=3000) * spread, draw.integers(0, 3000, 8)
    found = set_distances(row, targets, 10.0)
    assert found == pytest.approx([by_rule(row, target, 10.0, 1.0) for target in targets], rel=1e-9)


def test_a_target_that_wins_by_the_margin_is_at_zero_and_nothing_else_is() -> None:
    assert set_distances(np.array([5.0, 4.0, 1.0]), [0], 2.0)[0] == 0.0
    assert set_distances(np.array([5.0, 4.0 + 1e-6, 1.0]), [0], 2.0)[0] > 0.0
    assert set_distances(np.array([0.1, 0.2 + 0.1 + 1.0, 0.3]), [1], 2.0)[0] == 0.0
    assert set_distances(np.array([5.0, 4.0]), [0], 2.0, margin=1.5)[0] > 0.0


def test_two_on_top_are_as_far_as_each_other() -> None:
    found = set_distances(np.array([3.0, 3.0, -1.0]), [0, 1], 4.0)
    assert found[0] == found[1] == pytest.approx(np.sqrt(0.5) / 2)


def test_distances_can_be_above_one() -> None:
    assert set_distances(np.array([10.0, 0.0]), [1], 1.0)[0] == pytest.approx(11 / np.sqrt(2))
