"""The distance of SeT by its rule, slowly."""

from __future__ import annotations

import numpy as np


def by_rule(logits: np.ndarray, target: int, squared_norm: float, margin: float) -> float:
    """Word for word: mu is the mean of 0 and the largest m's, each added while it is above mu."""
    gaps = sorted(
        (a - logits[target] + margin for i, a in enumerate(logits) if i != target), reverse=True
    )
    taken = [0.0]
    for gap in gaps:
        if gap <= sum(taken) / len(taken):
            break
        taken.append(gap)
    mu = sum(taken) / len(taken)
    return float(np.sqrt((mu**2 + sum((gap - mu) ** 2 for gap in taken[1:])) / squared_norm))
