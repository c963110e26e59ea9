"""Useful work: what a plain evaluation of the unpadded masked copies needs, the head at scored
positions only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def useful_flops(config: Any, items: Sequence[Any], measure: Any) -> float:
    """Twice the multiply-adds of all linear layers and attention."""
    return sum(
        len(request.steps) * copy_flops(config, len(request.ids))
        for item in items
        for asked in measure.plan(item).values()
        for request in asked
    )


def copy_flops(config: Any, length: int) -> float:
    width, wide = config.hidden_size, config.intermediate_size
    token = 4 * width**2 + 2 * width * wide + 2 * length * width
    head = width**2 + width * config.vocab_size
    return float(2 * (config.num_hidden_layers * length * token + head))
