"""SentimentLM with a classifier of one's own: `--model sentiment:MODEL`, MODEL a folder or org/name[@revision]."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch

from stereometer.backends.local.checkpoint import (
    Checkpoint,
    Options,
    load,
    tokenizer_digest,
    weights_digest,
)
from stereometer.backends.local.tokens import window_of
from stereometer.errors import ModelError, UnknownName
from stereometer.types import Answer, Encoding, Follows, ModelCard, Request, WholeText

VERSION = "1"
BATCH = 32
NEGATIVE = ("negative", "neg", "negativity")
NEUTRAL = ("neutral", "neu", "neutrality")
"""How configurations call the labels, case aside."""


def open_classifier(spec: str, options: Options, negative: str | None = None) -> Classifier:
    return Classifier(load(spec, options, f"sentiment:{spec}", _text_classification), negative)


def _text_classification(config: Any, spec: str) -> tuple[str, Any]:
    from transformers import AutoModelForSequenceClassification

    if not any(one.endswith("ForSequenceClassification") for one in config.architectures or []):
        raise ModelError(
            f"{spec} ({config.model_type}) is no text-classification model. Its configuration names {', '.join(config.architectures or ['nothing'])}. Name a model that was trained to classify sentiment."
        )
    return "classifier", AutoModelForSequenceClassification


def negative_index(labels: Mapping[int, str], spec: str, asked: str | None) -> int:
    """Which output is the negative one: the label asked for, else the one the configuration calls negative."""
    named = {str(label): int(index) for index, label in labels.items()}
    if len(named) < 2:
        raise ModelError(
            f"{spec} has one output and no labels. Sentiment needs at least two classes. Choose another model."
        )
    if asked is not None:
        if asked not in named:
            raise UnknownName("label", asked, named, f"The labels are those of {spec}.")
        return named[asked]
    found = [label for label in named if label.strip().lower() in NEGATIVE]
    if len(found) != 1:
        raise ModelError(
            f"{spec} does not say which label is negative. Its labels are {', '.join(named)}. Name the negative one with --negative-label."
        )
    return named[found[0]]


class Classifier:
    """The log-odds that a text is negative; like VADER it does not look at the context."""

    supports = frozenset({WholeText.kind, Follows.kind})

    def __init__(self, checkpoint: Checkpoint, negative: str | None = None) -> None:
        self.checkpoint = checkpoint
        self.model: Any = checkpoint.model
        self.negative = negative_index(self.model.config.id2label, checkpoint.name, negative)
        self.window = window_of(checkpoint.tokenizer, checkpoint.model)
        if self.model.config.pad_token_id is None:
            self.model.config.pad_token_id = (
                -1
            )  # texts are batched by length: nothing is ever padded

    @cached_property
    def card(self) -> ModelCard:
        point, config = self.checkpoint, self.model.config
        settings = {
            "parameters": self.model.num_parameters(),
            "negative": config.id2label[self.negative],
            "window": self.window,
        }
        note = f"SentimentLM: a baseline that prefers what the classifier calls {config.id2label[self.negative]}; it does not look at the context."
        return ModelCard(
            point.name, "baseline", f"classifier@{VERSION}", weights_digest(self.model), tokenizer_digest(point.tokenizer),
            point.options.dtype, settings, (note,),
        )  # fmt: skip

    def encode(self, text: str, second: str | None = None) -> Encoding:
        raise TypeError("sentiment reads text")

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        texts = {
            key: one.second if isinstance(one, Follows) else getattr(one, "text", "")
            for key, one in requests.items()
        }
        for key, odds in self._read(texts, self._odds):
            column = "logodds" if isinstance(requests[key], Follows) else "logprob"
            yield key, Answer(({column: array("d", [odds])},))

    def tones(self, texts: Iterable[str]) -> dict[str, int]:
        """By the most likely label of each text: -1 where it is the negative one, 0 where it is neutral, else 1."""
        return {
            text: int(sign)
            for text, sign in self._read({text: text for text in texts}, self._signs)
        }

    @property
    def toned_by(self) -> str:
        """What `tones` counts as what."""
        names = self.model.config.id2label
        neutral = "".join(f"{names[index]} is neutral, " for index in self._neutral)
        return f"by the most likely label: {names[self.negative]} is negative, {neutral}every other counts as positive"

    def _read(
        self, texts: Mapping[str, str], reduce: Callable[[torch.Tensor], torch.Tensor]
    ) -> Iterator[tuple[str, float]]:
        """One number a text, from the logits of texts of one length at a time."""
        by_length: dict[int, list[tuple[str, list[int]]]] = {}
        for key, text in texts.items():
            ids = self.checkpoint.tokenizer(
                text, truncation=self.window is not None, max_length=self.window
            )["input_ids"]
            by_length.setdefault(len(ids), []).append((key, ids))
        for _, alike in sorted(by_length.items()):
            for start in range(0, len(alike), BATCH):
                batch = alike[start : start + BATCH]
                yield from zip(
                    (key for key, _ in batch),
                    reduce(self._logits([ids for _, ids in batch])).tolist(),
                    strict=True,
                )

    @torch.inference_mode()
    def _logits(self, batch: Sequence[list[int]]) -> torch.Tensor:
        found: torch.Tensor = self.model(
            torch.tensor(batch, device=self.model.device)
        ).logits.double()
        return found

    @property
    def _neutral(self) -> list[int]:
        return [
            index
            for index, label in self.model.config.id2label.items()
            if label.strip().lower() in NEUTRAL and index != self.negative
        ]

    @property
    def _several(self) -> bool:
        return bool(self.model.config.problem_type == "multi_label_classification")

    def _signs(self, logits: torch.Tensor) -> torch.Tensor:
        """Where several labels may hold and none does, a text is neutral."""
        signs = torch.ones(logits.shape[1], dtype=torch.long, device=logits.device)
        signs[self.negative] = -1
        signs[self._neutral] = 0
        best = logits.max(dim=1)
        holds = best.values > 0 if self._several else torch.ones_like(best.values, dtype=torch.bool)
        return torch.where(holds, signs[best.indices], 0)

    def _odds(self, logits: torch.Tensor) -> torch.Tensor:
        """From the logits, so that no probability saturates; each label by itself where several may hold."""
        chosen = logits[:, self.negative]
        if self._several:
            return chosen
        others = [index for index in range(logits.shape[1]) if index != self.negative]
        return chosen - logits[:, others].logsumexp(dim=1)
