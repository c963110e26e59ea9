"""Ratings by made-up people."""

from __future__ import annotations

import numpy as np

from stereometer.kinds.traits.abc.items import Grid, packaged
from tests.builders.trait_runs import GROUPS

DEFAULT = Grid.of(*packaged())


TRAITS = tuple(trait.name for trait in DEFAULT.traits)


def two_sided(seed: int = 0) -> dict[tuple[str, str], float]:
    """Means of which every group has eight well above and eight well below 50."""
    draw = np.random.default_rng(seed)
    return {
        (group, trait): float(value)
        for group in GROUPS
        for trait, value in zip(
            TRAITS,
            draw.permutation(np.r_[np.linspace(12, 38, 8), np.linspace(62, 88, 8)]),
            strict=True,
        )
    }
