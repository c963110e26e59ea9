"""What methods that take directions away have in common, their control among it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from stereometer.backends.local.mitigation.fold import Projection
from stereometer.mitigations.card import PROJECTION
from stereometer.training.mitigation.method import Fitted, Order

CONTROL = "random-projection"


@dataclass(frozen=True)
class ProjectionMethod:
    """Folded into masked and causal models; the control takes away as many directions, but any."""

    form: str = PROJECTION
    families: frozenset[str] = frozenset({"masked", "causal"})

    def control(self, order: Order, fitted: Fitted) -> Fitted:
        """Of the rank of what was fitted, around the same mean."""
        mean = fitted.tensors["mean"]
        assert fitted.rank is not None
        projection = drawn(len(mean), fitted.rank, order.seed)
        tensors, settings = projection.tensors | {"mean": mean}, {"control": CONTROL}
        return Fitted(tensors, fitted.rank, settings, sentences=fitted.sentences)


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
