"""SentimentLM with another classifier: `--model sentiment:MODEL`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import torch

from stereometer.core.errors import ModelError, UnknownName
from stereometer.core.types import Abilities, Follows, ModelCard, Request, WholeText
from stereometer.core.types.names import name_of
from stereometer.models.local.batches import grouped
from stereometer.models.local.checkpoint import Checkpoint, LoadingOptions, load
from stereometer.models.local.files import tokenizer_digest, weights_digest
from stereometer.models.local.tokens import window_of
from stereometer.models.text_scores import TextScores, judged_text

VERSION = "1"
BATCH = 32
NEGATIVE = ("negative", "neg", "negativity")
NEUTRAL = ("neutral", "neu", "neutrality")
"""What configurations call the labels, case aside."""


def open_classifier(spec: str, options: LoadingOptions, negative: str | None = None) -> Classifier:
    checkpoint = load(spec, options, f"sentiment:{name_of(spec)}", _text_classification)
    return Classifier(replace(checkpoint, spec=f"sentiment:{spec}"), negative)


def _text_classification(config: Any, spec: str) -> tuple[str, Any]:
    from transformers import AutoModelForSequenceClassification

    names = config.architectures or []
    if not any(name.endswith("ForSequenceClassification") for name in names):
        raise ModelError(
            f"{spec} ({config.model_type}) is not a text-classification model. Its configuration "
            f"names {', '.join(names or ['nothing'])}. Name a model that was trained to classify "
            "sentiment."
        )
    return "classifier", AutoModelForSequenceClassification


def negative_index(labels: Mapping[int, str], spec: str, asked: str | None) -> int:
    """Which output is negative: the label asked for, else the one the configuration calls so."""
    named = {str(label): int(index) for index, label in labels.items()}
    if len(named) < 2:
        raise ModelError(
            f"{spec} has one output and no labels. Sentiment needs at least two classes. "
            "Choose another model."
        )
    if asked is not None:
        if asked not in named:
            raise UnknownName("label", asked, named, f"The labels are those of {spec}.")
        return named[asked]
    negative = [label for label in named if label.strip().lower() in NEGATIVE]
    if len(negative) != 1:
        raise ModelError(
            f"{spec} does not say which label is negative. Its labels are {', '.join(named)}. "
            "Name the negative one with --negative-label."
        )
    return named[negative[0]]


class Classifier(TextScores):
    """The log-odds that a text is negative; like VADER it does not look at the context."""

    abilities = Abilities(frozenset({WholeText.kind, Follows.kind}))

    def __init__(self, checkpoint: Checkpoint, negative: str | None = None) -> None:
        self.checkpoint = checkpoint
        self.model: Any = checkpoint.model
        config = self.model.config
        self.labels: Mapping[int, str] = config.id2label
        self.negative = negative_index(self.labels, checkpoint.name, negative)
        self.window = window_of(checkpoint.tokenizer, checkpoint.model)
        self.several = config.problem_type == "multi_label_classification"
        """Whether several labels may hold at once."""
        if config.pad_token_id is None:
            config.pad_token_id = -1  # texts are batched by length: nothing is ever padded

    @cached_property
    def card(self) -> ModelCard:
        point, label = self.checkpoint, self.labels[self.negative]
        return ModelCard(
            name=point.name,
            spec=point.spec,
            family="baseline",
            backend=f"classifier@{VERSION}",
            digest=weights_digest(self.model),
            tokenizer_digest=tokenizer_digest(point.tokenizer),
            dtype=point.options.dtype,
            settings={
                "parameters": self.model.num_parameters(),
                "negative": label,
                "window": self.window,
            },
            notes=(
                f"SentimentLM: a baseline that prefers what the classifier calls {label}; "
                "it does not look at the context.",
            ),
        )

    def numbers(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, float]]:
        texts = {key: judged_text(request) for key, request in requests.items()}
        return self._read(texts, self._odds)

    def tones(self, texts: Iterable[str]) -> dict[str, int]:
        """By the most likely label of each text: -1 where it is negative, 0 if neutral, else 1."""
        signs = self._read({text: text for text in texts}, self._signs)
        return {text: int(sign) for text, sign in signs}

    @property
    def toned_by(self) -> str:
        """What `tones` counts as what."""
        neutral = "".join(f"{self.labels[index]} is neutral, " for index in self._neutral)
        return (
            f"by the most likely label: {self.labels[self.negative]} is negative, {neutral}"
            "every other counts as positive"
        )

    def _read(
        self, texts: Mapping[str, str], reduce: Callable[[torch.Tensor], torch.Tensor]
    ) -> Iterator[tuple[str, float]]:
        """One number per text, from the logits of texts of one length at a time."""
        encode = partial(self.checkpoint.tokenizer, truncation=True, max_length=self.window)
        ids = {key: encode(text).input_ids for key, text in texts.items()}
        for batch in grouped(
            sorted(ids, key=lambda key: len(ids[key])),
            lambda group, key: len(group) == BATCH or len(ids[key]) > len(ids[group[0]]),
        ):
            logits = self._logits([ids[key] for key in batch])
            yield from zip(batch, reduce(logits).tolist(), strict=True)

    @torch.inference_mode()
    def _logits(self, ids: list[list[int]]) -> torch.Tensor:
        logits: torch.Tensor = self.model(torch.tensor(ids, device=self.model.device)).logits
        return logits.double()

    @property
    def _neutral(self) -> list[int]:
        return [
            index
            for index, label in self.labels.items()
            if label.strip().lower() in NEUTRAL and index != self.negative
        ]

    def _signs(self, logits: torch.Tensor) -> torch.Tensor:
        """Where several labels may hold and none does, a text is neutral."""
        signs = torch.ones(logits.shape[1], dtype=torch.long, device=logits.device)
        signs[self.negative] = -1
        signs[self._neutral] = 0
        best = logits.max(dim=1)
        chosen = signs[best.indices]
        return torch.where(best.values > 0, chosen, 0) if self.several else chosen

    def _odds(self, logits: torch.Tensor) -> torch.Tensor:
        """From logits, which do not saturate; where several labels may hold, each stands alone."""
        chosen = logits[:, self.negative]
        if self.several:
            return chosen
        others = [index for index in range(logits.shape[1]) if index != self.negative]
        return chosen - logits[:, others].logsumexp(dim=1)
