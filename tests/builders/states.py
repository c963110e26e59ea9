"""States with a class in them, as if a model had them."""

from __future__ import annotations

import torch
from torch import Tensor

from stereometer.wings.mitigation.forms.apply import Projection

WIDTH = 12


def planted(seed: int, classes: int = 2, count: int = 400) -> tuple[Tensor, Tensor]:
    """Correlated states that hold the class in some directions."""
    rng = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % classes
    mixing = torch.randn(WIDTH, WIDTH, generator=rng, dtype=torch.float64)
    means = torch.randn(classes, WIDTH, generator=rng, dtype=torch.float64)
    noise = torch.randn(count, WIDTH, generator=rng, dtype=torch.float64)
    return noise @ mixing + means[labels] + 3.0, labels


def matrix(projection: Projection) -> Tensor:
    """P, for h' = P h + a constant."""
    return torch.eye(WIDTH, dtype=torch.float64) - projection.left @ projection.right


def covariance(rows: Tensor, labels: Tensor) -> float:
    """The largest of a state's entry with a class."""
    one_hot = torch.nn.functional.one_hot(labels).double()
    centred = (rows - rows.mean(0)).T @ (one_hot - one_hot.mean(0)) / len(rows)
    return float(centred.abs().max())


def damage(projection: Projection, rows: Tensor) -> float:
    """The mean squared change."""
    return float((projection(rows) - rows).square().sum(1).mean())
