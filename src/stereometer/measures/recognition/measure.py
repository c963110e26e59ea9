"""Recognition by prompting as a measure: what is asked, how answers become scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stereometer.errors import ModelError, UsageError
from stereometer.measures.recognition import likelihood, misspelling
from stereometer.measures.recognition.prompts import Prompts, check_folder
from stereometer.measures.recognition.questions import Question
from stereometer.measures.recognition.reading import Reader
from stereometer.measures.recognition.settings import MISSPELLING, Setting
from stereometer.shapes.comment import metrics
from stereometer.types import (
    Answer,
    Backend,
    CausalTokens,
    Continuation,
    Estimate,
    Generate,
    Request,
    Score,
    Settings,
    Variant,
    digest_of,
)

VERSION = "1"
WARMEST = 2.0
"""The highest temperature that any server takes."""


@dataclass(frozen=True)
class Asking:
    """How questions are put, besides their words."""

    repeats: int = 10
    temperature: float = 0.3
    chat: bool = False
    """Whether the prompt is a message of a conversation; otherwise it is text to be continued."""
    system: str = ""
    templates: Path | None = None
    likelihood: bool = False
    """Whether the probability of the label words is asked for too."""

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise UsageError(
                f"{self.repeats} repeats were asked for. Without an answer there is nothing to score. Ask at least once."
            )
        if not 0 <= self.temperature <= WARMEST:
            raise UsageError(
                f"The temperature is {self.temperature:g}. It goes from 0, always the likeliest word, to {WARMEST:g}. The study used 0.3."
            )
        if self.templates is not None:
            check_folder(self.templates)


@dataclass(frozen=True)
class Recognition:
    """One setting, bound to what a model can answer; without a model it reads what was answered elsewhere."""

    setting: Setting
    variant: Variant
    how: Asking
    seed: int = 0
    backend: Backend | None = None
    reads: str = "comment"

    @property
    def name(self) -> str:
        return f"recognition-{self.setting.name}@{VERSION}"

    @property
    def prompts(self) -> Prompts:
        return Prompts(self.setting, self.variant, self.how.templates)

    @property
    def asked(self) -> dict[str, Any]:
        """What a result records of the asking."""
        cold = self.setting is MISSPELLING
        found: dict[str, Any] = {
            "setting": self.setting.name,
            "repeats": 1 if cold else self.how.repeats,
            "temperature": 0.0 if cold else self.how.temperature,
            "max_tokens": self.setting.max_tokens(self.variant),
            "stop": list(self.setting.stop(self.variant)),
            "prompts": self.prompts.digest,
            "likelihood": self.how.likelihood,
            "chat": self.how.chat,
        }
        if self.how.chat:
            found |= {
                "chat_template": getattr(self.backend, "chat_template", ""),
                "system": digest_of(self.how.system)[:16],
            }
        return found

    def plan(self, item: Question) -> Mapping[str, Sequence[Request]]:
        prompt, asked = self.prompts.prompt(item), self.asked
        turns = ((("system", self.how.system),) if self.how.system else ()) + (("user", prompt),)
        said: dict[str, Any] = {"messages": turns} if self.how.chat else {"prompt": prompt}
        common = {name: asked[name] for name in ("temperature", "max_tokens")} | {
            "stop": tuple(asked["stop"]),
            "seed": self.seed,
        }
        found: dict[str, Sequence[Request]] = {
            "answers": [Generate(**said, **common, repeat=at) for at in range(asked["repeats"])]
        }
        if self.how.likelihood and self.backend is not None:
            found["labels"] = likelihood.requests(prompt, self.prompts.words(item), self.backend)
        return found

    def score(self, item: Question, answers: Mapping[str, Sequence[Answer]]) -> Score:
        reader, words = Reader(self.setting, self.variant), self.prompts.words(item)
        given = tuple(reader.read(answer, words) for answer in answers["answers"])
        derived = likelihood.logprobs(words, answers["labels"]) if "labels" in answers else {}
        return scored(item, given, derived)

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        found = list(scores)
        if self.setting is MISSPELLING:
            return misspelling.summarize(found, settings)
        return metrics.summarize(found, settings) + (
            likelihood.summarize(found, settings) if self.how.likelihood else []
        )


def scored(
    item: Question, given: Sequence[Mapping[str, str]], derived: Mapping[str, float] | None = None
) -> Score:
    """A question's score: the share of each label among its readable answers, and every answer."""
    labels = Counter(one["label"] for one in given if "label" in one)
    shares = {label: count / labels.total() for label, count in sorted(labels.items())}
    return Score(
        item.id, item.slices, shares, texts=item.texts, derived=derived or {}, answers=tuple(given)
    )


def recognition(
    setting: Setting, backend: Backend, variant: Variant, how: Asking, seed: int = 0
) -> Recognition:
    """The measure for a model that can write, and can give likelihoods where they are asked for."""
    if Generate.kind not in backend.supports:
        raise ModelError(
            f"{backend.card.name} cannot be asked in words. It answers {', '.join(sorted(backend.supports))}. Choose a causal model or a server."
        )
    if how.chat and not getattr(backend, "chat_template", ""):
        raise ModelError(
            f"{backend.card.name} has no chat template. It was not taught to hold a conversation. Ask without --chat."
        )
    if how.system and not how.chat:
        raise UsageError(
            "A system prompt was given without --chat. Only a conversation has one. Add --chat, or leave it out."
        )
    if how.likelihood and how.chat:
        raise UsageError(
            "--likelihood was asked for with --chat. A conversation has no label words to score. Leave out one of them."
        )
    if how.likelihood and not backend.supports & {CausalTokens.kind, Continuation.kind}:
        raise ModelError(
            f"{backend.card.name} gives no likelihoods of a text it is given. It answers {', '.join(sorted(backend.supports))}. Leave out --likelihood."
        )
    return Recognition(setting, variant, how, seed, backend)
