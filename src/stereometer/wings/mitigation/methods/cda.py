"""CDA (counterfactual data augmentation): fine-tuning on sentences and their counterfactuals.

What is trained is a low-rank change of the linear layers (LoRA). The control is the same training
on the same sentences without swaps, each as often as its versions are. With `dropout` it is the
Dropout method (Webster et al. 2020): no swaps, and dropout raised.
"""

import random
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from stereometer.core.errors import DataError, ModelError, UsageError
from stereometer.core.methods.spans import scored_positions
from stereometer.core.types import Skip
from stereometer.models.local.language_model import LanguageModel
from stereometer.models.local.masked import Masked
from stereometer.wings.mitigation.card import ADAPTER
from stereometer.wings.mitigation.forms import adapter
from stereometer.wings.mitigation.methods.method import (
    CdaOptions,
    MitigationFit,
    MitigationMethod,
    MitigationOrder,
)
from stereometer.wings.mitigation.methods.sentences import LabelledSentence, counted
from stereometer.wings.training.fitting import scheduled

CONTROL, DROPOUT = "fine-tuning", "dropout"
"""Names of the control, and of the method without swaps."""
BATCH = 16
"""Texts of a step."""
WARM_UP, CLIPPED = 0.1, 1.0


@dataclass(frozen=True)
class TrainingExample:
    ids: tuple[int, ...]
    positions: tuple[int, ...]
    """Tokens of the text's own words."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Batch:
    ids: Tensor
    mask: Tensor
    """1 for tokens of a text, 0 for what fills the row."""
    asked: Tensor
    """Whether a position's logits are compared with a token."""
    targets: Tensor
    """The tokens, in the order of the positions."""


class Cda(MitigationMethod):
    name, form, options = "cda", ADAPTER, CdaOptions

    def fit(self, order: MitigationOrder) -> MitigationFit:
        check(order.options)
        swaps = order.options.dropout is None
        fitted = _fit_copy(order, swaps)
        return fitted if swaps else replace(fitted, settings={**fitted.settings, "method": DROPOUT})

    def control(self, order: MitigationOrder, fitted: MitigationFit) -> MitigationFit:
        plain = replace(order, options=replace(order.options, dropout=None))
        control = _fit_copy(plain, swaps=False)
        return replace(control, settings={**control.settings, "control": CONTROL})


METHOD = Cda()


def check(options: CdaOptions) -> None:
    """Raises for what makes no sense."""
    if options.dropout is not None and not 0 < options.dropout < 1:
        raise UsageError(
            f"--dropout is {options.dropout:g}. It is the share of states that is left out, "
            "between 0 and 1. Choose one such as 0.15."
        )
    if options.tokens < 1 or options.rank < 1 or not 0 < options.rate < 1:
        raise UsageError(
            f"--tokens is {options.tokens}, --rank is {options.rank} and --rate is "
            f"{options.rate:g}. Tokens and rank must be at least 1, and the rate must lie between "
            "0 and 1. Change the one that is out of range."
        )


def _fit_copy(order: MitigationOrder, swaps: bool) -> MitigationFit:
    """Trained on a copy: the model itself stays as it is."""
    options: CdaOptions = order.options
    examples, used = _examples(order, swaps)
    torch.manual_seed(order.seed)
    tuned = adapter.begun(deepcopy(order.backend.model), options.rank, 2 * options.rank)
    notes = _raise_dropout(tuned, options.dropout) if options.dropout is not None else ()
    steps = train(tuned, order, examples)
    settings = {**asdict(options), "swaps": swaps, "trained_texts": len(examples)}
    settings |= {"trained_tokens": sum(map(len, examples)), "steps": steps}
    trained, drawn = counted(used, order.attribute), len(order.sentences.fit)
    if len(used) < drawn:
        each = ", ".join(f"{name} {number}" for name, number in trained.items())
        cut = f"Of {drawn} sentences only those in {options.tokens} tokens were trained on: {each}."
        notes = (*notes, cut)
    tensors = adapter.tensors_of(tuned, order.backend.checkpoint.name)
    return MitigationFit(tensors, options.rank, settings, notes, trained)


def _examples(
    order: MitigationOrder, swaps: bool
) -> tuple[list[TrainingExample], list[LabelledSentence]]:
    """What is trained on, and its sentences. These are the same for both trainings: as many as fit
    into the tokens with all versions. Without swaps each stands as often as it has versions."""
    sentences = list(order.sentences.fit)
    random.Random(order.seed).shuffle(sentences)
    examples: list[TrainingExample] = []
    used: list[LabelledSentence] = []
    tokens = 0
    for sentence in sentences:
        try:
            # The text itself, then its counterfactuals.
            others = (text for name, text in sentence.versions.items() if name != sentence.label)
            versions = [read_example(order.backend, text) for text in (sentence.text, *others)]
        except Skip:
            continue
        tokens += sum(map(len, versions))
        if tokens > order.options.tokens:
            break
        used.append(sentence)
        examples += versions if swaps else versions[:1] * len(versions)
    if not examples:
        raise DataError(
            f"No sentence and its counterfactual fit into {order.options.tokens} tokens. Nothing "
            "would be trained. Allow more with --tokens."
        )
    return examples, used


def train(tuned: Any, order: MitigationOrder, examples: Sequence[TrainingExample]) -> int:
    """Changes the adapter; the number of steps."""
    rng = torch.Generator().manual_seed(order.seed)
    batches = torch.split(torch.randperm(len(examples), generator=rng), BATCH)
    weights = [part for part in tuned.parameters() if part.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=order.options.rate, weight_decay=0.0)
    schedule = scheduled(optimizer, len(batches), WARM_UP)
    tuned.train()
    for step, chosen in enumerate(batches):
        batch = batch_of(order.backend, [examples[at] for at in chosen.tolist()], rng)
        with torch.enable_grad():
            logits = tuned(input_ids=batch.ids, attention_mask=batch.mask).logits[batch.asked]
            loss = nn.functional.cross_entropy(logits.float(), batch.targets)
        loss.backward()
        nn.utils.clip_grad_norm_(weights, CLIPPED)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        order.progress("fine-tuning", step + 1, len(batches), f"loss {loss.item():.3f}")
    tuned.eval()
    return len(batches)


def _raise_dropout(model: Any, share: float) -> tuple[str, ...]:
    """In every layer that has one; attention may keep its own as a number."""
    layers = [part for part in model.modules() if isinstance(part, nn.Dropout)]
    for layer in layers:
        layer.p = share
    others = [part for part in model.modules() if "attention_dropout" in vars(part)]
    numbers = [part for part in others if isinstance(part.attention_dropout, float)]
    for part in numbers:
        part.attention_dropout = share
    if not layers and not numbers:
        raise ModelError(
            "The model has no dropout. The Dropout method raises it. Choose another method."
        )
    return () if layers else ("The model has dropout in its attention alone.",)


# ----------------------------------------------------- texts in tokens, and which of them are asked

ASKED, SHOWN_AS_MASK, SHOWN_AS_OTHER = 0.15, 0.8, 0.1
"""BERT's training: the share of tokens that is asked, and what stands in the place of most."""


def read_example(backend: LanguageModel, text: str) -> TrainingExample:
    """Raises Skip for a text that the model cannot read."""
    encoding = backend.encode(text)
    positions = tuple(scored_positions(encoding))
    if not positions[1:]:
        raise Skip("no token to say")
    return TrainingExample(encoding.ids, positions)


def batch_of(
    backend: LanguageModel, examples: Sequence[TrainingExample], rng: torch.Generator
) -> Batch:
    """As the model's family is trained: some tokens hidden, or each after those before it."""
    length = max(map(len, examples))
    ids = torch.zeros(len(examples), length, dtype=torch.long)
    mask, own = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
    for row, example in enumerate(examples):
        ids[row, : len(example)] = torch.tensor(example.ids)
        mask[row, : len(example)] = 1
        own[row, list(example.positions)] = True
    if isinstance(backend, Masked):
        asked, targets, ids = _hidden(backend, ids, own, rng)
    else:
        own[:, 0] = False
        asked, targets = own.roll(-1, 1), ids[own]
    device = backend.split.device
    return Batch(*(part.to(device) for part in (ids, mask, asked, targets)))


def _hidden(
    backend: Masked, ids: Tensor, own: Tensor, rng: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Which tokens are asked, at least one per text, what they are, and what is seen instead."""
    lot = torch.rand(ids.shape, generator=rng).masked_fill(~own, 2.0)
    asked = (lot < ASKED) | ((lot == lot.amin(1, keepdim=True)) & own)
    shown = torch.rand(ids.shape, generator=rng)
    others = torch.randint(backend.split.vocabulary, ids.shape, generator=rng)
    seen = torch.where(asked & (shown < SHOWN_AS_MASK), backend.mask, ids)
    other = asked & (shown >= SHOWN_AS_MASK) & (shown < SHOWN_AS_MASK + SHOWN_AS_OTHER)
    return asked, ids[asked], torch.where(other, others, seen)
