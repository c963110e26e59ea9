"""A next-sentence head for a model: pairs from text, states of the trunk, a small head on them.

With a frozen trunk the states are the whole cost: one forward pass over the text. They are kept
part by part beside the head, so that a run that was killed goes on where it was.
"""

import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from stereometer.core.errors import DataError, UsageError
from stereometer.core.runs.progress import Phases
from stereometer.core.types import Skip, digest_of
from stereometer.models.local import next_sentence as heads
from stereometer.models.local.language_model import LanguageModel
from stereometer.models.local.sentence_pairs import (
    DEFAULT_POOLING,
    LONGEST,
    POOLINGS,
    Features,
    PairTokens,
    read_pair,
)
from stereometer.wings.training import articles, fitting
from stereometer.wings.training.articles import SentencePair, sentence_pairs
from stereometer.wings.training.recipe import Recipe, check_order

PART = 512
"""Pairs whose states are kept together: what a kill can cost."""


def train(
    backend: LanguageModel, text: Path, out: Path, recipe: Recipe, progress: Phases
) -> heads.HeadCard:
    """A head in a file; what was kept for going on after a kill is removed once it is there."""
    check_order(recipe, out)
    recipe = checked(recipe, backend)
    parts = material(text, recipe, backend)
    plan = digest_of([backend.weights, asdict(recipe), parts.record])
    work = out.with_name(f"{out.name}.work-{plan[:12]}")
    trained = _train_head(backend, parts, recipe, work, progress)
    heads.save(trained, out)
    shutil.rmtree(work, ignore_errors=True)
    return trained.card


def _train_head(
    backend: LanguageModel, parts: fitting.Material, recipe: Recipe, work: Path, progress: Phases
) -> heads.Trained:
    notes = fitting.unreached(recipe, len(parts.training.pairs))
    record = parts.record | {"recipe": asdict(recipe), "notes": notes}
    held_out = parts.held_out
    trunk: dict[str, Tensor] = {}
    if recipe.full:
        head, features, steps = fitting.fine_tuned(backend, parts, recipe, work, progress)
        rows, trunk = features.rows(held_out.pairs), features.trunk.state_dict()
        record["steps"] = steps
    else:
        features = Features(backend, recipe.pooling, recipe.layer)
        training = kept_rows(features, parts.training.pairs, work / "training", progress)
        rows = kept_rows(features, held_out.pairs, work / "held-out", progress)
        head = fitted(training, parts.training.targets, recipe, progress)
        record["tokens"] = parts.training.tokens + held_out.tokens
    head = heads.rounded(head)
    correct = head(rows).argmax(-1).cpu() == held_out.targets
    card = heads.HeadCard(
        *(backend.checkpoint.name, backend.weights, recipe.pooling, recipe.layer),
        training=record,
        accuracy=fitting.accuracy(correct, held_out.groups, recipe.seed),
        fine_tuned=recipe.full,
    )
    return heads.Trained(card, head, trunk)


def checked(recipe: Recipe, backend: LanguageModel) -> Recipe:
    """The recipe with its gaps filled for this model."""
    pooling = recipe.pooling or DEFAULT_POOLING[backend.checkpoint.family]
    if pooling not in POOLINGS:
        raise UsageError(
            f"There is no pooling '{pooling}'. They are {', '.join(POOLINGS)}. Choose one of them."
        )
    layers = int(backend.model.config.num_hidden_layers)
    if not 0 <= recipe.layer <= layers:
        raise UsageError(
            f"There is no layer {recipe.layer}. The model has {layers}; 0 is the last. Choose one."
        )
    # With its trunk a head is trained without dropout, and its card says so.
    return replace(recipe, pooling=pooling, dropout=0.0 if recipe.full else recipe.dropout)


def material(text: Path, recipe: Recipe, backend: LanguageModel) -> fitting.Material:
    """Pairs of a text, split by groups of articles that share a title or a sentence."""
    whole = articles.read(text)
    parts = articles.split(whole, recipe.held_out, recipe.seed)
    held_out_pairs = max(10, round(recipe.pairs * recipe.held_out))
    training = _label_pairs(sentence_pairs(parts.training, recipe.seed, recipe.pairs), backend)
    others = sentence_pairs(parts.held_out, recipe.seed + 1, held_out_pairs)
    held_out = _label_pairs(others, backend)
    if len(training.pairs) < 10 or len(held_out.pairs) < 4:
        raise DataError(
            f"{text} gives {len(training.pairs)} pairs to train on and {len(held_out.pairs)} held "
            "out. That is too few. Give more articles of several sentences."
        )
    record = {
        "text_digest": articles.digest(whole),
        **parts.counts,
        "training_pairs": len(training.pairs),
        "held_out_pairs": len(held_out.pairs),
        "too_long": training.too_long + held_out.too_long,
        "longest": LONGEST,
    }
    return fitting.Material(training, held_out, record)


def _label_pairs(pairs: Sequence[SentencePair], backend: LanguageModel) -> fitting.LabelledPairs:
    tokens, kept = [], []
    for pair in pairs:
        try:
            tokens.append(read_pair(backend, pair.first, pair.second))
            kept.append(pair)
        except Skip:
            continue
    follows = torch.tensor([pair.follows for pair in kept], dtype=torch.bool)
    groups = [pair.group for pair in kept]
    return fitting.LabelledPairs(tokens, follows, groups, len(pairs) - len(kept))


# -------------------------------------------------------------------------------- the frozen trunk


def kept_rows(
    features: Features, pairs: Sequence[PairTokens], folder: Path, progress: Phases
) -> Tensor:
    """Rows of all pairs, from disk where a part is there already."""
    rows = []
    for start in range(0, len(pairs), PART):
        part = pairs[start : start + PART]
        file = folder / f"{start:09d}.npy"
        rows.append(fitting.kept_part(file, len(part), partial(features.rows, part)))
        progress(f"states, {folder.name}", min(start + PART, len(pairs)), len(pairs), "")
    return torch.cat(rows)


def fitted(
    rows: Tensor, targets: Tensor, recipe: Recipe, progress: Phases
) -> heads.NextSentenceHead:
    """One head for the same rows and seed."""
    order = fitting.shuffled_batches(len(rows), recipe)
    fit = fitting.begun(rows, recipe, len(order))
    head, steps = fit.head, len(order) // recipe.epochs
    right, losses = 0, 0.0
    with torch.enable_grad():
        for number, batch in enumerate(order, 1):
            centred = nn.functional.dropout(rows[batch] - head.mean, recipe.dropout)
            logits = head(centred + head.mean)
            loss = nn.functional.cross_entropy(logits, targets[batch])
            fit.optimizer.zero_grad()
            loss.backward()
            fit.optimizer.step()
            fit.schedule.step()
            right += int((logits.argmax(-1) == targets[batch]).sum())
            losses += loss.item() * len(batch)
            if number % steps == 0:
                how = f"loss {losses / len(rows):.3f}, accuracy {100 * right / len(rows):.1f} %"
                progress("head", number // steps, recipe.epochs, how)
                right, losses = 0, 0.0
    return head.eval().requires_grad_(False)
