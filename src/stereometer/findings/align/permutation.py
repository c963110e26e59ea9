"""Whether a model tells groups apart as people do, tested by exchanging its groups.

Traits are correlated within a dimension and are the same for all groups, so neither traits permuted
nor groups drawn again can show it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stereometer.findings.align.agreement import Both
from stereometer.stats.kendall import tau_rows
from stereometer.stats.ranks import orders

BY_LOT = 2000
"""Orders drawn where there are more than these."""
TEST = "the model's groups exchanged, two-sided about the mean"
ROUNDING = 1e-12


@dataclass(frozen=True)
class Exchanged:
    """What tau is when each group gets another group's scores."""

    p: float
    """The share of orders of groups with a tau as far from the mean as the model's own."""
    mean: float
    """What is left without knowing one group from another: traits that all groups share."""


def exchanged(cells: Both, rng: np.random.Generator) -> Exchanged:
    every = orders(len(cells.groups), BY_LOT, BY_LOT, rng)
    model = cells.model[every].reshape(len(every), -1)
    taus = tau_rows(model, np.broadcast_to(cells.people.reshape(-1), model.shape))
    mean = float(np.nanmean(taus))
    away = np.abs(taus[~np.isnan(taus)] - mean)
    return Exchanged(float(np.mean(away >= abs(taus[0] - mean) - ROUNDING)), mean)
