"""LEACE: a projection after which no covariance with the label is left, at the least change."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stereometer.wings.mitigation.forms.apply import Projection
from stereometer.wings.mitigation.methods.leace import erased, library
from stereometer.wings.mitigation.methods.linear import drawn
from tests.builders.states import WIDTH, covariance, damage, matrix, planted

seeds = st.integers(0, 10_000)


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(2, 4))
def test_it_is_a_projection_that_leaves_no_covariance(seed: int, classes: int) -> None:
    rows, labels = planted(seed, classes)
    projection = erased(rows, labels)
    p = matrix(projection)
    assert torch.allclose(p @ p, p, atol=1e-10)
    assert projection.rank == classes - 1
    assert covariance(rows, labels) > 1e-2
    assert covariance(projection(rows), labels) < 1e-10
    assert torch.allclose(projection(rows).mean(0), rows.mean(0), atol=1e-10)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_of_three_classes_two_directions_go_however_states_are_spread(seed: int) -> None:
    """The covariance of these states has a condition of 1e12, which costs most of the digits."""
    rows, labels = planted(seed, 3)
    stretched = rows * torch.logspace(0, -6, WIDTH, dtype=torch.float64)
    projection = erased(stretched, labels)
    assert projection.rank == 2
    assert covariance(projection(stretched), labels) < 1e-5


@settings(max_examples=10, deadline=None)
@given(seeds, st.integers(2, 4))
def test_it_is_the_formula_of_the_paper(seed: int, classes: int) -> None:
    """h' = h - W^+ Pi W (h - mu), W the inverse root of the covariance (Belrose et al. 2023)."""
    rows, labels = planted(seed, classes)
    centred = rows - rows.mean(0)
    values, vectors = torch.linalg.eigh(centred.T @ centred / len(rows))
    whiten, colour = (vectors * values**power @ vectors.T for power in (-0.5, 0.5))
    one_hot = torch.nn.functional.one_hot(labels).double()
    with_labels = whiten @ centred.T @ (one_hot - one_hot.mean(0)) / len(rows)
    onto = with_labels @ torch.linalg.pinv(with_labels, rtol=1e-8)
    expected = rows - centred @ (colour @ onto @ whiten).T
    assert torch.allclose(erased(rows, labels)(rows), expected, atol=1e-8)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_of_two_classes_either_one_tells_all(seed: int) -> None:
    """One column of labels gives what two give, which say the same."""
    rows, labels = planted(seed)
    both = torch.nn.functional.one_hot(labels).double()
    theirs = library().LeaceEraser.fit(
        rows, both, shrinkage=False, constrain_cov_trace=False, svd_tol=1e-12
    )
    assert torch.allclose(erased(rows, labels)(rows), theirs(rows), atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_no_orthogonal_projection_that_erases_as_much_changes_less(seed: int) -> None:
    rows, labels = planted(seed)
    difference = rows[labels == 1].mean(0) - rows[labels == 0].mean(0)
    basis = (difference / difference.norm()).unsqueeze(1)
    orthogonal = Projection(basis, basis.T, rows.mean(0))
    assert covariance(orthogonal(rows), labels) < 1e-10
    assert damage(erased(rows, labels), rows) <= damage(orthogonal, rows) + 1e-10


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_nor_does_a_random_one_together_with_the_difference_of_means(seed: int) -> None:
    rows, labels = planted(seed)
    difference = rows[labels == 1].mean(0) - rows[labels == 0].mean(0)
    both = torch.cat([difference.unsqueeze(1), drawn(WIDTH, 2, seed).left], dim=1)
    basis = torch.linalg.qr(both).Q
    wider = Projection(basis, basis.T, rows.mean(0))
    assert covariance(wider(rows), labels) < 1e-10
    assert damage(erased(rows, labels), rows) <= damage(wider, rows)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_it_is_what_the_library_gives(seed: int) -> None:
    rows, labels = planted(seed)
    theirs = library().LeaceEraser.fit(
        rows, labels.double(), shrinkage=False, constrain_cov_trace=False, svd_tol=1e-12
    )
    assert torch.allclose(erased(rows, labels)(rows), theirs(rows), atol=1e-9)


def test_isotropic_balanced_classes_lose_the_difference_of_their_means() -> None:
    """Whitened states: the covariance is the identity to the last digit."""
    rows, labels = planted(0)
    centred = rows - rows.mean(0)
    values, vectors = torch.linalg.eigh(centred.T @ centred / (len(rows) - 1))
    white = centred @ vectors / values.sqrt()
    difference = white[labels == 1].mean(0) - white[labels == 0].mean(0)
    direction = difference / difference.norm()
    expected = torch.eye(WIDTH, dtype=torch.float64) - torch.outer(direction, direction)
    assert torch.allclose(matrix(erased(white, labels)), expected, atol=1e-9)


@given(st.integers(1, WIDTH), seeds)
def test_the_control_is_an_orthogonal_projection_of_the_rank(rank: int, seed: int) -> None:
    p = matrix(drawn(WIDTH, rank, seed))
    assert torch.allclose(p @ p, p, atol=1e-12)
    assert torch.allclose(p, p.T, atol=1e-12)
    assert float(p.trace()) == pytest.approx(WIDTH - rank)
    assert torch.equal(p, matrix(drawn(WIDTH, rank, seed)))


@pytest.mark.parametrize("classes", [2, 3])
def test_rounding_is_not_read(classes: int) -> None:
    """Rows from a normalising layer lie in a plane, but for rounding."""
    for seed in range(20):
        rows, labels = planted(seed, classes, 400)
        plane = torch.nn.functional.layer_norm(rows.float(), (WIDTH,)).double()
        projection = erased(plane, labels)
        assert covariance(projection(plane), labels) < 1e-10
        assert float(projection.right.norm() * projection.left.norm()) < 20
        p = matrix(projection)
        assert torch.allclose(p @ p, p, atol=1e-10)
