"""A linear classifier: the support vector machine with squared errors, one class against the rest.

It has a smooth convex loss, so that every machine finds the same one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

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

    def loss(w: Any) -> tuple[float, Any]:
        short = np.maximum(0.0, 1 - y * (x @ w))
        value = 0.5 * w @ w + strength * short @ short
        return float(value), w - 2 * strength * (x.T @ (y * short))

    fitted = minimize(
        loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}
    )
    return torch.from_numpy(fitted.x)


def predicted(rows: Tensor, weights: Tensor) -> Tensor:
    """The number of the class of each row."""
    values = rows.double() @ weights.T
    return (values[:, 0] > 0).long() if weights.shape[0] == 1 else values.argmax(1)
