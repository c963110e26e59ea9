"""Whether a model orders traits as people do, tested over traits.

All groups share them, so resampled groups cannot show it.
"""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from stereometer.findings.align.agreement import Both
from stereometer.stats.kendall import tau_rows

BY_LOT = 2000
"""Orders drawn where there are more than these."""
TEST = "the model's traits permuted, for all groups together"
ROUNDING = 1e-12


def permutation_p(cells: Both, rng: np.random.Generator) -> float:
    """Two-sided: the share of orders of the model's traits with a tau as far from 0 as its own."""
    orders = trait_orders(len(cells.traits), rng)
    model = np.moveaxis(cells.model[:, orders], 1, 0).reshape(len(orders), -1)
    taus = np.abs(tau_rows(model, np.broadcast_to(cells.people.reshape(-1), model.shape)))
    return float(np.mean(taus[~np.isnan(taus)] >= taus[0] - ROUNDING))


def trait_orders(count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Every order of so many traits, or the model's own and others drawn by lot; its own first."""
    if factorial(count) <= BY_LOT:
        return np.array(list(permutations(range(count))))
    own = np.arange(count)
    return np.concatenate([own[None], rng.permuted(np.tile(own, (BY_LOT, 1)), axis=1)])
