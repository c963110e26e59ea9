"""INLP and SentenceDebias: orthogonal projections of the stated rank that take away what they say;
and where they agree with LEACE."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import orth

from stereometer.wings.mitigation.methods.inlp import Rounds, taken_away
from stereometer.wings.mitigation.methods.leace import erased
from stereometer.wings.mitigation.methods.linear import classifiers, orthogonal, predicted
from stereometer.wings.mitigation.methods.sentence_debias import components
from stereometer.wings.mitigation.methods.states import States
from tests.builders.states import WIDTH, covariance, damage, matrix, planted

pytestmark = pytest.mark.long

seeds = st.integers(0, 10_000)


def states(seed: int, classes: int = 2, count: int = 400) -> States:
    rows, labels = planted(seed, classes, count)
    return States(rows, labels, torch.arange(count)).centred()


def after(rounds: int, of: States, held_out: States | None = None) -> Rounds:
    done = next(taken_away(of, held_out))
    for done in taken_away(of, held_out):
        if done.rounds == rounds or done.at_chance:
            break
    return done


@settings(max_examples=10, deadline=None)
@given(seeds, st.integers(2, 3), st.integers(1, 3))
def test_inlp_is_orthogonal_and_blind_to_every_classifier(
    seed: int, classes: int, rounds: int
) -> None:
    done = after(rounds, states(seed, classes))
    p = matrix(orthogonal(done.basis))
    assert torch.allclose(p @ p, p, atol=1e-10)
    assert torch.allclose(p, p.T, atol=1e-10)
    assert float(p.trace()) == pytest.approx(WIDTH - done.basis.shape[1], abs=1e-9)
    assert done.basis.shape[1] <= rounds * (1 if classes == 2 else classes)
    assert done.basis.shape[1] >= rounds
    assert float((done.weights @ p).abs().max()) < 1e-9 * float(done.weights.abs().max())


def test_inlp_stops_where_held_out_rows_cannot_be_told_apart() -> None:
    whole = states(3, count=1200)
    parts = [
        States(whole.rows[at::2], whole.labels[at::2].clone(), whole.sentences[at::2])
        for at in (0, 1)
    ]
    labels = torch.arange(600) % 2
    for part in parts:
        part.labels.copy_(labels)
        part.rows[:, 0] += 4.0 * labels
    done = after(WIDTH, parts[0].centred(), parts[1].centred())
    assert done.at_chance
    assert 1 <= done.rounds < WIDTH
    assert done.basis.shape[1] == done.rounds


def test_rows_without_a_class_are_left_alone() -> None:
    """With this seed; in one of forty the interval leaves chance out all the same."""
    rng = torch.Generator().manual_seed(1)
    rows = torch.randn(800, WIDTH, generator=rng, dtype=torch.float64)
    parts = [
        States(rows[at::2], torch.randint(2, (400,), generator=rng), torch.arange(400))
        for at in (0, 1)
    ]
    done = after(WIDTH, parts[0].centred(), parts[1].centred())
    assert (done.at_chance, done.rounds, done.basis.shape[1]) == (True, 0, 0)


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(1, 4))
def test_leace_changes_less_than_inlp_that_leaves_no_covariance(seed: int, rounds: int) -> None:
    """INLP itself leaves some until everything is gone: after a few rounds the direction of what is
    left is taken away as well."""
    whole = states(seed)
    basis = after(rounds, whole).basis
    left = orthogonal(basis)(whole.rows).T @ (whole.labels - whole.labels.double().mean())
    basis = torch.linalg.qr(torch.column_stack([basis, left])).Q
    projection = orthogonal(basis)
    assert projection.rank == rounds + 1 < WIDTH
    assert covariance(projection(whole.rows), whole.labels) < 1e-10
    least = damage(erased(whole.rows, whole.labels), whole.rows)
    assert least <= damage(projection, whole.rows) * (1 + 1e-9)


@settings(max_examples=10, deadline=None)
@given(seeds, st.integers(1, 4))
def test_sentence_debias_takes_away_the_first_components(seed: int, count: int) -> None:
    differences = planted(seed)[0]
    basis, shares = components(differences, count)
    p = matrix(orthogonal(basis))
    assert torch.allclose(p @ p, p, atol=1e-10)
    assert torch.allclose(p, p.T, atol=1e-10)
    assert float(p.trace()) == pytest.approx(WIDTH - count, abs=1e-9)
    singular = torch.linalg.svdvals(differences - differences.mean(0)).square()
    assert shares == pytest.approx((singular / singular.sum())[:count].tolist())


def test_all_agree_where_classes_are_balanced_and_spread_alike_everywhere() -> None:
    """Pairs that differ by one direction, their covariance the identity to the last digit."""
    rng = torch.Generator().manual_seed(1)
    noise = torch.randn(300, WIDTH, generator=rng, dtype=torch.float64)
    direction = torch.zeros(WIDTH, dtype=torch.float64)
    direction[2] = 1.0
    noise -= torch.outer(noise @ direction, direction)
    pairs = torch.stack([noise + direction, noise - direction])
    rows, labels = pairs.flatten(0, 1), torch.arange(2).repeat_interleave(300)
    centred = rows - rows.mean(0)
    values, vectors = torch.linalg.eigh(centred.T @ centred / (len(rows) - 1))
    white = (centred @ vectors / values.sqrt()).view(2, 300, WIDTH)
    difference = white[0].mean(0) - white[1].mean(0)
    expected = torch.outer(difference, difference) / difference.square().sum()
    p = torch.eye(WIDTH, dtype=torch.float64) - expected
    basis, _ = components((white - white.mean(0)).flatten(0, 1), 1)
    assert torch.allclose(matrix(orthogonal(basis)), p, atol=1e-9)
    assert torch.allclose(matrix(erased(white.flatten(0, 1), labels)), p, atol=1e-9)


def test_differences_are_between_versions_of_one_word() -> None:
    rows = torch.arange(16, dtype=torch.float64).view(8, 2)
    labels = torch.tensor([0, 0, 1, 1, 0, 0, 1, 1])
    sentences = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
    differences = States(rows, labels, sentences).differences()
    assert torch.equal(
        differences,
        torch.tensor([[-2.0, -2.0], [2.0, 2.0]]).double().repeat_interleave(2, 0).repeat(2, 1),
    )


@settings(max_examples=10, deadline=None)
@given(seeds, st.integers(2, 4))
def test_classifiers_are_at_the_bottom_of_their_loss(seed: int, classes: int) -> None:
    whole = states(seed, classes)
    weights = classifiers(whole.rows, whole.labels)
    assert len(weights) == (1 if classes == 2 else classes)
    for row, name in zip(weights, range(1 if classes == 2 else 0, classes), strict=True):
        sides = torch.where(whole.labels == name, 1.0, -1.0).double()
        short = (1 - sides * (whole.rows @ row)).clamp_min(0)
        slope = row - 2 * whole.rows.T @ (sides * short)
        start = 2 * whole.rows.T @ sides
        assert float(slope.norm()) < 1e-3 * float(start.norm())
    correct = predicted(whole.rows, weights) == whole.labels
    assert float(correct.double().mean()) > 1 / classes


# ------------------------------------------------------------------------ the loop as it is printed


def exact_weights(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the support vector machine with squared errors, by Newton's method on its pieces."""
    w: NDArray[np.float64] = np.zeros(x.shape[1])
    for _ in range(50):
        short = y * (x @ w) < 1
        hessian = np.eye(len(w)) + 2 * x[short].T @ x[short]
        new = np.linalg.solve(hessian, 2 * x[short].T @ y[short]).astype(np.float64)
        if np.allclose(new, w, rtol=1e-12, atol=0):
            break
        w = new
    return w


def row_space(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    if np.allclose(rows, 0):
        return np.zeros((rows.shape[1], rows.shape[1]))
    basis: NDArray[np.float64] = orth(rows.T)
    return basis @ basis.T


@pytest.mark.parametrize(("spread", "before"), [(0.0, 21), (4.0, 42), (6.0, 30)])
def test_the_printed_loop_takes_away_as_much_as_ravfogels(spread: float, before: int) -> None:
    """Classifiers on all rows, whose weights span what is taken away. `before`: where our loop
    ended when its optimizer took weights that were only small for none."""
    rng = torch.Generator().manual_seed(0)
    labels = torch.arange(900) % 3
    rows = torch.randn(900, 48, generator=rng, dtype=torch.float64)
    rows[:, :3] += torch.nn.functional.one_hot(labels, 3)
    rows *= torch.logspace(0, -spread, 48, dtype=torch.float64)
    x, removed = rows.numpy(), np.zeros((48, 48))
    for _ in range(20):
        left = x - x @ row_space(removed)
        sides = [np.where(labels.numpy() == name, 1.0, -1.0) for name in range(3)]
        removed = removed + row_space(np.stack([exact_weights(left, side) for side in sides]))
    ours = after(20, States(rows, labels, torch.arange(900))).basis.shape[1]
    assert ours == round(np.trace(row_space(removed))) > before
