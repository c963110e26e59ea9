"""What training a head alone and training it with its trunk share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stereometer.backends.local.next_sentence import Head
from stereometer.backends.local.sentence_pairs import PairTokens
from stereometer.stats.intervals import generator, percentile, resampled_clusters
from stereometer.training.recipe import Recipe

BATCH = 80
"""Pairs of a step, as in StereoSet's training."""


@dataclass(frozen=True)
class Labelled:
    """Pairs as the model reads them, what they are, and whose they are."""

    pairs: list[PairTokens]
    follows: Tensor
    groups: list[int]
    too_long: int

    @property
    def tokens(self) -> int:
        return sum(map(len, self.pairs))

    @property
    def targets(self) -> Tensor:
        """The number of each pair's label."""
        return (~self.follows).long()


@dataclass(frozen=True)
class Material:
    """What a head is trained on and judged by."""

    training: Labelled
    held_out: Labelled
    record: dict[str, Any]


@dataclass
class Fit:
    """What changes from step to step."""

    head: Head
    optimizer: torch.optim.Optimizer
    schedule: torch.optim.lr_scheduler.LambdaLR
    trunk: Any = None
    step: int = 0


def begun(rows: Tensor, recipe: Recipe, steps: int, trunk: Any = None) -> Fit:
    """A head that standardises features by some rows: the same for the same rows and seed."""
    torch.manual_seed(recipe.seed)
    head = Head(rows.shape[1], recipe.hidden).to(rows.device)
    head.mean.copy_(rows.mean(0))
    head.scale.copy_(rows.std(0).clamp_min(1e-6))
    groups = [{"params": list(head.parameters()), "lr": recipe.rate}]
    if trunk is not None:
        trunk.requires_grad_(True)
        groups.insert(0, {"params": list(trunk.parameters()), "lr": recipe.trunk_rate})
    optimizer = torch.optim.AdamW(groups, weight_decay=recipe.decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: warmed(step, max(1, steps), recipe.warm_up)
    )
    return Fit(head, optimizer, schedule, trunk)


def warmed(step: int, steps: int, warm_up: float) -> float:
    """A learning rate's share at a step: up over the first part, then down to nothing."""
    first = max(1, round(steps * warm_up if warm_up < 1 else warm_up))
    return min((step + 1) / first, max(0.0, (steps - step) / max(1, steps - first)))


def unreached(recipe: Recipe, pairs: int) -> list[str]:
    """A note where training ends before its rate has risen."""
    steps = recipe.epochs * ceil(pairs / BATCH) // recipe.accumulate
    if recipe.warm_up < 1 or steps > recipe.warm_up:
        return []
    return [
        f"The learning rate was still rising at the end: it rises over {recipe.warm_up:g} steps, "
        f"and {pairs} pairs make {steps}. Give more text or more epochs."
    ]


def shuffled_batches(count: int, recipe: Recipe) -> list[Tensor]:
    """The batches of all epochs, the same for the same seed."""
    rng = torch.Generator().manual_seed(recipe.seed)
    orders = (torch.randperm(count, generator=rng) for _ in range(recipe.epochs))
    return [batch for order in orders for batch in torch.split(order, BATCH)]


def accuracy(correct: Tensor, groups: Sequence[int], seed: int) -> dict[str, Any]:
    """With a 95 % interval over groups: pairs of one article stand or fall together."""
    names, which = np.unique(groups, return_inverse=True)
    right = np.bincount(which, weights=correct.double().cpu().numpy())
    size = np.bincount(which)
    drawn = resampled_clusters(len(names), 10_000, generator(seed, {}, "next-sentence accuracy"))
    low, high = percentile(drawn @ right / (drawn @ size), 0.95)
    value, n = float(right.sum() / size.sum()), int(size.sum())
    return {"value": value, "low": low, "high": high, "n": n, "groups": len(names)}
