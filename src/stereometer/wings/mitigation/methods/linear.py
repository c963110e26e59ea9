"""A linear classifier, and projections that take directions away.

The classifier is the support vector machine with squared errors, one class against the rest. It has
a smooth convex loss, so that every machine finds the same one.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from stereometer.wings.mitigation.forms.apply import Projection
from stereometer.wings.mitigation.methods.method import (
    MitigationFit,
    MitigationMethod,
    MitigationOrder,
)

STEPS = 500


def classifiers(rows: Tensor, labels: Tensor, strength: float = 1.0) -> Tensor:
    """One row of weights for each class against the rest; of two classes only the second. There is
    no intercept: who calls centres the rows, but for INLP as printed, whose code does neither.

    Minimises |w|^2 / 2 + strength x the sum of squared hinge losses, as LinearSVC does.
    """
    names = labels.unique().tolist()
    asked = names[1:] if len(names) == 2 else names
    return torch.stack([_weights(rows, labels == name, strength) for name in asked])


def _weights(rows: Tensor, is_class: Tensor, strength: float) -> Tensor:
    from scipy.optimize import minimize

    x = rows.double().numpy()
    y = np.where(is_class.numpy(), 1.0, -1.0)
    slope = -2 * strength * (x.T @ y)
    steep = float(slope @ slope)
    if not steep:
        return torch.zeros(x.shape[1], dtype=torch.float64)
    # The best step down the slope and what it brings are the units: rows may differ by little, and
    # the optimizer, like LinearSVC, must not stop because the numbers are small.
    step = steep / (steep + 2 * strength * float(np.square(x @ slope).sum()))
    unit, gain = step * steep**0.5, step * steep / 2

    def loss(u: Any) -> tuple[float, Any]:
        """Against that of no weights, so that small gains are not lost in it."""
        w = unit * u
        margin = np.minimum(1.0, y * (x @ w))
        value = 0.5 * w @ w + strength * (margin * (margin - 2)).sum()
        return float(value) / gain, (w - 2 * strength * (x.T @ (y * (1 - margin)))) * (unit / gain)

    start, most = np.zeros(x.shape[1]), {"maxiter": STEPS}
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", options=most)
    return torch.from_numpy(unit * fitted.x)


def predicted(rows: Tensor, weights: Tensor) -> Tensor:
    """The number of the class of each row."""
    values = rows.double() @ weights.T
    return (values[:, 0] > 0).long() if weights.shape[0] == 1 else values.argmax(1)


# -------------------------------------------------------------------------------------- projections

CONTROL = "random-projection"


class ProjectionMethod(MitigationMethod):
    """Folded into the model; the control takes away as many directions, but any."""

    def control(self, order: MitigationOrder, fitted: MitigationFit) -> MitigationFit:
        """Of the rank of what was fitted, around the same mean."""
        mean = fitted.tensors["mean"]
        assert fitted.rank is not None
        projection = drawn(len(mean), fitted.rank, order.seed)
        tensors, settings = projection.tensors | {"mean": mean}, {"control": CONTROL}
        return MitigationFit(tensors, fitted.rank, settings, sentences=fitted.sentences)


def orthogonal(basis: Tensor, mean: Tensor | None = None) -> Projection:
    """Onto what is orthogonal to some orthonormal columns: h' = h - V V^T h; around a mean, what
    all states have in common stays: h' = h - V V^T (h - mean)."""
    around = basis.new_zeros(len(basis)) if mean is None else mean
    return Projection(basis, basis.T.contiguous(), around)


def drawn(width: int, rank: int, seed: int) -> Projection:
    """Onto the complement of a subspace that is uniform among those of its rank."""
    rng = torch.Generator().manual_seed(seed)
    normal = torch.randn(width, rank, generator=rng, dtype=torch.float64)
    return orthogonal(torch.linalg.qr(normal).Q)
