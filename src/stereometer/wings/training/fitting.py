"""What trainings share; a trunk trained with its head; and rows kept on disk part by part."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR as Schedule

from stereometer.core.runs.progress import Phases
from stereometer.core.stats.intervals import generator, percentile, resampled_clusters
from stereometer.models.local.language_model import LanguageModel
from stereometer.models.local.next_sentence import NextSentenceHead
from stereometer.models.local.sentence_pairs import Features, PairTokens
from stereometer.wings.training.recipe import Recipe, Tuning

BATCH = 80
"""Pairs of a step, as in StereoSet's training."""


@dataclass(frozen=True)
class LabelledPairs:
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

    training: LabelledPairs
    held_out: LabelledPairs
    record: dict[str, Any]


@dataclass
class Fit:
    """What changes from step to step."""

    head: NextSentenceHead
    optimizer: torch.optim.Optimizer
    schedule: Schedule
    trunk: Any = None
    step: int = 0


def begun(rows: Tensor, recipe: Recipe, steps: int, trunk: Any = None) -> Fit:
    """A head that standardises features by some rows: the same for the same rows and seed."""
    torch.manual_seed(recipe.seed)
    head = NextSentenceHead(rows.shape[1], recipe.hidden).to(rows.device)
    head.mean.copy_(rows.mean(0))
    head.scale.copy_(rows.std(0).clamp_min(1e-6))
    groups = [{"params": list(head.parameters()), "lr": recipe.rate}]
    if trunk is not None:
        trunk.requires_grad_(True)
        groups.insert(0, {"params": list(trunk.parameters()), "lr": recipe.trunk_rate})
    optimizer = torch.optim.AdamW(groups, weight_decay=recipe.decay)
    return Fit(head, optimizer, scheduled(optimizer, max(1, steps), recipe.warm_up), trunk)


def scheduled(optimizer: torch.optim.Optimizer, steps: int, warm_up: float) -> Schedule:
    """A learning rate that goes as `warmed`; it stays where there is no warm-up."""
    return Schedule(optimizer, lambda step: warmed(step, steps, warm_up) if warm_up else 1.0)


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


def shuffled_batches(count: int, recipe: Recipe | Tuning, size: int = BATCH) -> list[Tensor]:
    """The batches of all epochs, the same for the same seed."""
    rng = torch.Generator().manual_seed(recipe.seed)
    orders = (torch.randperm(count, generator=rng) for _ in range(recipe.epochs))
    return [batch for order in orders for batch in torch.split(order, size)]


def accuracy(correct: Tensor, groups: Sequence[int], seed: int) -> dict[str, Any]:
    """With a 95 % interval over groups: pairs of one article stand or fall together."""
    names, which = np.unique(groups, return_inverse=True)
    right = np.bincount(which, weights=correct.double().cpu().numpy())
    size = np.bincount(which)
    drawn = resampled_clusters(len(names), 10_000, generator(seed, {}, "next-sentence accuracy"))
    low, high = percentile(drawn @ right / (drawn @ size), 0.95)
    value, n = float(right.sum() / size.sum()), int(size.sum())
    return {"value": value, "low": low, "high": high, "n": n, "groups": len(names)}


# ----------------------------------------------------------------- what a kill can cost is one part


def kept_part(file: Path, count: int, make: Callable[[], Tensor]) -> Tensor:
    """So many rows, from their file or made and written there; one that is cut is made again."""
    with suppress(OSError, ValueError, EOFError):
        stored = torch.from_numpy(np.load(file))
        if len(stored) == count:
            return stored
    made = make().float().cpu()
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".part")
    with partial.open("wb") as out:
        np.save(out, made.numpy())
    partial.replace(file)
    return made


# -------------------------------------------------------------------------- trunk and head together

KEPT_EVERY = 20
"""Steps between two checkpoints."""
CHUNK = 512
"""Tokens that go through the trunk at once: gradients need the states of all layers."""
STATEFUL = ("trunk", "head", "optimizer", "schedule")


def fine_tuned(
    backend: LanguageModel, material: Material, recipe: Recipe, work: Path, progress: Phases
) -> tuple[NextSentenceHead, Features, int]:
    """The head, the model's states by the trunk that was trained with it, and the steps. A run that
    is killed continues from its last kept step."""
    trunk = deepcopy(backend.split.inner).train(False)
    features = Features(backend, recipe.pooling, recipe.layer, trunk)
    order = shuffled_batches(len(material.training.pairs), recipe)
    fit = start(features, material.training, recipe, len(order))
    work.mkdir(parents=True, exist_ok=True)
    kept = work / "step.pt"
    if kept.exists():
        state = torch.load(kept, map_location="cpu", weights_only=True)
        for name in STATEFUL:
            getattr(fit, name).load_state_dict(state[name])
        fit.step = state["step"]
    while fit.step < len(order):
        batch = order[fit.step]
        loss, right = add_gradients(fit, features, material.training, batch, recipe.accumulate)
        fit.step += 1
        if fit.step % recipe.accumulate == 0 or fit.step == len(order):
            _change(fit)
        if fit.step % (KEPT_EVERY * recipe.accumulate) == 0:
            partial = kept.with_suffix(".part")
            states = {name: getattr(fit, name).state_dict() for name in STATEFUL}
            torch.save({**states, "step": fit.step}, partial)
            partial.replace(kept)
        how = f"loss {loss:.3f}, accuracy {100 * right:.1f} %"
        progress("training", fit.step, len(order), how)
    trunk.requires_grad_(False)
    return fit.head.eval().requires_grad_(False), features, len(order)


def start(features: Features, training: LabelledPairs, recipe: Recipe, steps: int) -> Fit:
    """A head whose features are standardised by some pairs under the trunk before training."""
    rows = features.rows(training.pairs[: 4 * BATCH])
    return begun(rows, recipe, steps // recipe.accumulate, features.trunk)


def add_gradients(
    fit: Fit, features: Features, training: LabelledPairs, batch: Tensor, accumulate: int
) -> tuple[float, float]:
    """Gradients of one batch, added to what is there; its loss and accuracy."""
    total, right = 0.0, 0
    pairs, targets = [training.pairs[at] for at in batch.tolist()], training.targets[batch]
    with torch.enable_grad():
        for chunk in features.batches(pairs, CHUNK):
            logits = fit.head(features.pooled(chunk))
            wanted = targets[[part.number for part in chunk]].to(logits.device)
            loss = nn.functional.cross_entropy(logits, wanted, reduction="sum") / len(pairs)
            (loss / accumulate).backward()
            total, right = total + loss.item(), right + int((logits.argmax(-1) == wanted).sum())
    return total, right / len(pairs)


def _change(fit: Fit) -> None:
    """One step of the optimizer along the gradients that were added."""
    groups = fit.optimizer.param_groups
    nn.utils.clip_grad_norm_([part for group in groups for part in group["params"]], 1.0)
    fit.optimizer.step()
    fit.optimizer.zero_grad(set_to_none=True)
    fit.schedule.step()
