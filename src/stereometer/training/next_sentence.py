"""A next-sentence head for a model: pairs from text, states of the frozen trunk kept on disk, a small head trained on them.

The states are the whole cost: one forward pass over the text. They are kept part by part beside the head, so that a run that
was killed goes on where it was.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from stereometer.backends.local.language_model import LanguageModel
from stereometer.backends.local.next_sentence import (
    DEFAULT_POOLING,
    LONGEST,
    POOLINGS,
    Features,
    Head,
    HeadCard,
    PairTokens,
    Trained,
    read_pair,
    rounded,
    save,
)
from stereometer.errors import DataError, UsageError
from stereometer.stats.intervals import generator, percentile, resampled_clusters
from stereometer.training import articles
from stereometer.training.pairs import SentencePair, pairs
from stereometer.training.recipe import Recipe, check_order
from stereometer.types import Skip, digest_of

PART = 512
"""Pairs whose states are kept together: what a kill can cost."""
BATCH = 80
"""Pairs of a step, as in StereoSet's training."""

Progress = Callable[[str, int, int, str], None]
"""Told what is done, how much of it, of how much, and how it goes."""


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


def checked(recipe: Recipe, backend: LanguageModel) -> Recipe:
    """The recipe with its gaps filled for this model."""
    pooling = recipe.pooling or DEFAULT_POOLING[backend.checkpoint.family]
    if pooling not in POOLINGS:
        raise UsageError(
            f"There is no pooling '{pooling}'. There are {', '.join(POOLINGS)}. The default hangs on the model."
        )
    layers = int(backend.model.config.num_hidden_layers)
    if not 0 <= recipe.layer <= layers:
        raise UsageError(
            f"There is no layer {recipe.layer}. The model has {layers}, counted from 1; 0 is the last. Choose one of them."
        )
    return replace(recipe, pooling=pooling)


def material(text: Path, recipe: Recipe, backend: LanguageModel) -> Material:
    """Pairs of a text, split by groups of articles that share a title or a sentence."""
    found = articles.read(text)
    parts = articles.split(found, recipe.held_out, recipe.seed)
    held_out_pairs = max(10, round(recipe.pairs * recipe.held_out))
    training = _labelled(pairs(parts.training, recipe.seed, recipe.pairs), backend)
    held_out = _labelled(pairs(parts.held_out, recipe.seed + 1, held_out_pairs), backend)
    if len(training.pairs) < 10 or len(held_out.pairs) < 4:
        raise DataError(
            f"{text} gives {len(training.pairs)} pairs to train on and {len(held_out.pairs)} held out. That is too few. Give more articles of several sentences."
        )
    record = {
        "text_digest": articles.digest(found),
        **parts.counts,
        "training_pairs": len(training.pairs),
        "held_out_pairs": len(held_out.pairs),
        "too_long": training.too_long + held_out.too_long,
        "longest": LONGEST,
    }
    return Material(training, held_out, record)


def _labelled(found: Sequence[SentencePair], backend: LanguageModel) -> Labelled:
    read, kept, too_long = [], [], 0
    for pair in found:
        try:
            read.append(read_pair(backend, pair.first, pair.second))
            kept.append(pair)
        except Skip:
            too_long += 1
    return Labelled(
        read,
        torch.tensor([pair.follows for pair in kept], dtype=torch.bool),
        [pair.group for pair in kept],
        too_long,
    )


# --------------------------------------------------------------------------------------------- the frozen trunk


def train(
    backend: LanguageModel, text: Path, out: Path, recipe: Recipe, progress: Progress
) -> HeadCard:
    """A head in a file; what was kept for going on after a kill is removed once it is there."""
    check_order(recipe, out)
    recipe = checked(recipe, backend)
    found = material(text, recipe, backend)
    work = out.with_name(
        f"{out.name}.work-{digest_of([backend.weights, asdict(recipe), found.record])[:12]}"
    )
    if recipe.full:
        from stereometer.training.fine_tuning import fine_tuned

        trained = fine_tuned(backend, found, recipe, work, progress)
    else:
        trained = on_frozen(backend, found, recipe, work, progress)
    save(trained, out)
    shutil.rmtree(work, ignore_errors=True)
    return trained.card


def on_frozen(
    backend: LanguageModel, found: Material, recipe: Recipe, work: Path, progress: Progress
) -> Trained:
    features = Features(backend, recipe.pooling, recipe.layer)
    rows = [
        kept(
            features,
            part.pairs,
            work / name,
            lambda done, total, name=name: progress(f"states, {name}", done, total, ""),  # type: ignore[misc]
        )
        for name, part in (("training", found.training), ("held-out", found.held_out))
    ]
    head = rounded(
        fitted(rows[0], found.training.targets, recipe, lambda *told: progress("head", *told))
    )
    correct = head(rows[1]).argmax(-1) == found.held_out.targets
    tokens = found.training.tokens + found.held_out.tokens
    record = found.record | {"recipe": asdict(recipe), "tokens": tokens}
    return Trained(
        card_of(backend, recipe, record, accuracy(correct, found.held_out.groups, recipe.seed)),
        head,
    )


def kept(
    features: Features,
    found: Sequence[PairTokens],
    folder: Path,
    progress: Callable[[int, int], None],
) -> Tensor:
    """Rows of all pairs, from disk where a part is there already."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for start in range(0, len(found), PART):
        file = folder / f"{start:09d}.npy"
        if not file.exists():
            partial = file.with_suffix(".part")
            with partial.open("wb") as out:
                np.save(out, features.rows(found[start : start + PART]).float().cpu().numpy())
            partial.replace(file)
        rows.append(torch.from_numpy(np.load(file)))
        progress(min(start + PART, len(found)), len(found))
    return torch.cat(rows)


def fitted(
    rows: Tensor, targets: Tensor, recipe: Recipe, progress: Callable[[int, int, str], None]
) -> Head:
    """The same head for the same rows and seed."""
    torch.manual_seed(recipe.seed)
    head = Head(rows.shape[1], recipe.hidden)
    head.mean.copy_(rows.mean(0))
    head.scale.copy_(rows.std(0).clamp_min(1e-6))
    optimizer = torch.optim.AdamW(head.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
    steps = recipe.epochs * -(-len(rows) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: warmed(step, steps, recipe.warm_up)
    )
    rng = torch.Generator().manual_seed(recipe.seed)
    with torch.enable_grad():
        for epoch in range(recipe.epochs):
            right, losses = 0, 0.0
            for some in torch.split(torch.randperm(len(rows), generator=rng), BATCH):
                kept_rows = (
                    nn.functional.dropout(rows[some] - head.mean, recipe.dropout) + head.mean
                )
                logits = head(kept_rows)
                loss = nn.functional.cross_entropy(logits, targets[some])
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                schedule.step()
                right, losses = (
                    right + int((logits.argmax(-1) == targets[some]).sum()),
                    losses + loss.item() * len(some),
                )
            progress(
                epoch + 1,
                recipe.epochs,
                f"loss {losses / len(rows):.3f}, accuracy {100 * right / len(rows):.1f} %",
            )
    return head.eval().requires_grad_(False)


def warmed(step: int, steps: int, warm_up: float) -> float:
    """A learning rate's share at a step: up over the first part, then down to nothing."""
    first = max(1, round(steps * warm_up))
    return min((step + 1) / first, max(0.0, (steps - step) / max(1, steps - first)))


def card_of(
    backend: LanguageModel, recipe: Recipe, record: dict[str, Any], judged: dict[str, Any]
) -> HeadCard:
    return HeadCard(
        backend.checkpoint.name,
        backend.weights,
        recipe.pooling,
        recipe.layer,
        training=record,
        accuracy=judged,
        fine_tuned=recipe.full,
    )


def accuracy(correct: Tensor, groups: Sequence[int], seed: int) -> dict[str, Any]:
    """With a 95 % interval over groups of articles: pairs of one article stand or fall together."""
    names, which = np.unique(groups, return_inverse=True)
    right = np.bincount(which, weights=correct.double().cpu().numpy())
    size = np.bincount(which)
    drawn = resampled_clusters(len(names), 10_000, generator(seed, {}, "next-sentence accuracy"))
    low, high = percentile(drawn @ right / (drawn @ size), 0.95)
    return {
        "value": float(right.sum() / size.sum()),
        "low": low,
        "high": high,
        "n": int(size.sum()),
        "groups": len(names),
    }
