"""Trunk and head trained together; a run that is killed continues from its last kept step."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import torch
from torch import Tensor, nn

from stereometer.backends.local.language_model import LanguageModel
from stereometer.backends.local.next_sentence import Head
from stereometer.backends.local.sentence_pairs import Features
from stereometer.runs.progress import Phases
from stereometer.training.fitting import (
    BATCH,
    Fit,
    Labelled,
    Material,
    begun,
    shuffled_batches,
)
from stereometer.training.recipe import Recipe

KEPT_EVERY = 20
"""Steps between two checkpoints."""
CHUNK = 512
"""Tokens that go through the trunk at once: gradients need the states of all layers."""
STATEFUL = ("trunk", "head", "optimizer", "schedule")


def fine_tuned(
    backend: LanguageModel, material: Material, recipe: Recipe, work: Path, progress: Phases
) -> tuple[Head, Features, int]:
    """The head, the model's states by the trunk that was trained with it, and the steps."""
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


def start(features: Features, training: Labelled, recipe: Recipe, steps: int) -> Fit:
    """A head whose features are standardised by some pairs under the trunk before training."""
    rows = features.rows(training.pairs[: 4 * BATCH])
    return begun(rows, recipe, steps // recipe.accumulate, features.trunk)


def add_gradients(
    fit: Fit, features: Features, training: Labelled, batch: Tensor, accumulate: int
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
