"""The control of every projection: as many directions taken away, but any."""

from __future__ import annotations

import torch

from stereometer.backends.local.mitigation.fold import Projection
from stereometer.training.mitigation.method import Fitted, Order

NAME = "random-projection"


def control_of(order: Order, fitted: Fitted) -> Fitted:
    """Of the rank of what was fitted, around the same mean."""
    mean = fitted.tensors["mean"]
    assert fitted.rank is not None
    projection = drawn(len(mean), fitted.rank, order.seed)
    return Fitted(projection.tensors | {"mean": mean}, fitted.rank, {"control": NAME})


def drawn(width: int, rank: int, seed: int) -> Projection:
    """Onto the complement of a subspace that is uniform among those of its rank."""
    rng = torch.Generator().manual_seed(seed)
    normal = torch.randn(width, rank, generator=rng, dtype=torch.float64)
    basis = torch.linalg.qr(normal).Q
    return Projection(basis, basis.T.contiguous(), torch.zeros(width, dtype=torch.float64))
