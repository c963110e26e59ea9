"""Trunk and head trained together. Whatever moment the run is killed at, it goes on from its last kept step."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from stereometer.backends.local.language_model import LanguageModel
from stereometer.backends.local.next_sentence import (
    POOLINGS,
    Features,
    Head,
    PairTokens,
    Trained,
    rounded,
)
from stereometer.training.next_sentence import (
    BATCH,
    Labelled,
    Material,
    Progress,
    accuracy,
    card_of,
    warmed,
)
from stereometer.training.recipe import Recipe

KEPT_EVERY = 20
"""Steps between two checkpoints."""
CHUNK = 512
"""Tokens that go through the trunk at once: gradients need the states of all layers."""


@dataclass
class Run:
    """What changes from step to step."""

    trunk: Any
    head: Head
    optimizer: torch.optim.Optimizer
    schedule: torch.optim.lr_scheduler.LambdaLR
    step: int = 0

    def state(self) -> dict[str, Any]:
        return {
            "trunk": self.trunk.state_dict(),
            "head": self.head.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "step": self.step,
        }

    def restore(self, state: dict[str, Any]) -> None:
        for name in ("trunk", "head", "optimizer", "schedule"):
            getattr(self, name).load_state_dict(state[name])
        self.step = state["step"]


def fine_tuned(
    backend: LanguageModel, found: Material, recipe: Recipe, work: Path, progress: Progress
) -> Trained:
    trunk = deepcopy(backend.split.inner).train(False)
    features = Features(backend, recipe.pooling, recipe.layer, trunk)
    run = _begun(features, found.training, recipe)
    work.mkdir(parents=True, exist_ok=True)
    kept = work / "step.pt"
    if kept.exists():
        run.restore(torch.load(kept, map_location="cpu", weights_only=True))
    order = _order(len(found.training.pairs), recipe)
    steps = len(order)
    while run.step < steps:
        loss, right = _step(run, features, found.training, order[run.step], recipe.accumulate)
        run.step += 1
        if run.step % recipe.accumulate == 0 or run.step == steps:
            _change(run)
        if run.step % (KEPT_EVERY * recipe.accumulate) == 0:
            partial = kept.with_suffix(".part")
            torch.save(run.state(), partial)
            partial.replace(kept)
        progress("training", run.step, steps, f"loss {loss:.3f}, accuracy {100 * right:.1f} %")
    trunk.requires_grad_(False)
    head = rounded(run.head.eval().requires_grad_(False))
    correct = head(features.rows(found.held_out.pairs)).argmax(-1).cpu() == found.held_out.targets
    record = found.record | {"recipe": asdict(recipe), "steps": steps}
    return Trained(
        card_of(backend, recipe, record, accuracy(correct, found.held_out.groups, recipe.seed)),
        head,
        trunk.state_dict(),
    )


def _begun(features: Features, training: Labelled, recipe: Recipe) -> Run:
    """A head whose features are standardised by some pairs under the trunk as it is."""
    torch.manual_seed(recipe.seed)
    some = features.rows(training.pairs[: 4 * BATCH])
    head = Head(some.shape[1], recipe.hidden).to(some.device)
    head.mean.copy_(some.mean(0))
    head.scale.copy_(some.std(0).clamp_min(1e-6))
    features.trunk.requires_grad_(True)
    optimizer = torch.optim.AdamW(
        [
            {"params": list(features.trunk.parameters()), "lr": recipe.trunk_rate},
            {"params": list(head.parameters()), "lr": recipe.rate},
        ],
        weight_decay=recipe.decay,
    )
    steps = len(_order(len(training.pairs), recipe)) // recipe.accumulate
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: warmed(step, max(1, steps), recipe.warm_up)
    )
    return Run(features.trunk, head, optimizer, schedule)


def _order(count: int, recipe: Recipe) -> list[Tensor]:
    """The batches of all epochs, the same for the same seed."""
    rng = torch.Generator().manual_seed(recipe.seed)
    return [
        some
        for _ in range(recipe.epochs)
        for some in torch.split(torch.randperm(count, generator=rng), BATCH)
    ]


def _step(
    run: Run, features: Features, training: Labelled, some: Tensor, accumulate: int
) -> tuple[float, float]:
    """Gradients of one batch, added to what is there; its loss and accuracy."""
    total, right = 0.0, 0
    pairs, targets = [training.pairs[at] for at in some.tolist()], training.targets[some]
    with torch.enable_grad():
        for batch in features.batches(pairs, CHUNK):
            logits = _logits(run.head, features, [pair for _, pair in batch])
            wanted = targets[[number for number, _ in batch]].to(logits.device)
            loss = nn.functional.cross_entropy(logits, wanted, reduction="sum") / len(pairs)
            (loss / accumulate).backward()  # type: ignore[no-untyped-call]
            total, right = total + loss.item(), right + int((logits.argmax(-1) == wanted).sum())
    return total, right / len(pairs)


def _logits(head: Head, features: Features, pairs: Sequence[PairTokens]) -> Tensor:
    """Of pairs of one length."""
    states = features.states(pairs)
    found: Tensor = head(
        torch.stack(
            [POOLINGS[features.pooling](states[row], pair) for row, pair in enumerate(pairs)]
        )
    )
    return found


def _change(run: Run) -> None:
    """One step of the optimizer along the gradients that were added."""
    nn.utils.clip_grad_norm_(
        [one for group in run.optimizer.param_groups for one in group["params"]], 1.0
    )
    run.optimizer.step()
    run.optimizer.zero_grad(set_to_none=True)
    run.schedule.step()
