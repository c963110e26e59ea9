"""Useful work: what a plain evaluation of the unpadded texts or masked copies needs, the head at
scored positions only."""

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


def plain_flops(backend: Any, items: Sequence[Any], measure: Any) -> float:
    """For any build, by the sizes of its linear layers: every text of its own, although
    texts that begin alike may be computed together."""
    import torch

    trunk = backend.split.inner
    inside = set(map(id, trunk.modules()))
    head = sum(
        part.weight.numel()
        for part in backend.model.modules()
        if isinstance(part, torch.nn.Linear) and id(part) not in inside
    )
    requests = [
        request for item in items for asked in measure.plan(item).values() for request in asked
    ]
    return sum(
        _copies(request) * trunk_flops(trunk, len(request.ids)) + 2 * head * _scored(request)
        for request in requests
    )


def _copies(request: Any) -> int:
    return len(request.steps) if hasattr(request, "steps") else 1


def _scored(request: Any) -> int:
    return len(request.steps) if hasattr(request, "steps") else len(request.ids) - request.start


def trunk_flops(trunk: Any, length: int) -> float:
    """Twice the multiply-adds of a trunk's linear layers and attention over one text."""
    import torch

    linear = sum(
        part.weight.numel() for part in trunk.modules() if isinstance(part, torch.nn.Linear)
    )
    config = trunk.config
    attention = config.num_hidden_layers * 2 * length * config.hidden_size
    return float(2 * length * (linear + attention))
