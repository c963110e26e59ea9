"""Self-Debias as the facts page states it, slowly: one text at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import torch

from stereometer.wings.mitigation.forms.self_debias import Reweighting, SelfDebiased
from tests.builders.models.reference import Reference
from tests.builders.models.zoo import Zoo

PROMPT = "Women and men are told apart here:"
STRONG = Reweighting(decay=50.0, eps=0.01)


def debiased(
    zoo: Zoo, name: str, prompt: str = PROMPT, reweighting: Reweighting = STRONG
) -> SelfDebiased:
    return SelfDebiased(zoo.backend(name), prompt, reweighting)


def by_rule(
    plain: Sequence[float], prompted: Sequence[float], decay: float, eps: float
) -> list[float]:
    """alpha(D) p over its sum."""
    weighted = []
    for left, right in zip(plain, prompted, strict=True):
        difference = left - right
        alpha = 1.0 if difference >= 0 else max(eps, exp(decay * difference))
        weighted.append(alpha * left)
    return [value / sum(weighted) for value in weighted]


@dataclass
class SlowSelfDebias(Reference):
    """The reference with both distributions at every position."""

    prompt: str = PROMPT
    decay: float = 50.0
    eps: float = 0.01

    @property
    def prompt_ids(self) -> list[int]:
        ids: list[int] = self.tokenizer(f"{self.prompt}\n", add_special_tokens=False)["input_ids"]
        return ids

    @torch.inference_mode()
    def log_probabilities(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        ids = tuple(inputs["input_ids"][0].tolist())
        types = inputs.get("token_type_ids")
        name = ids, None if types is None else tuple(types[0].tolist())
        if name not in self.seen:
            self.seen[name] = self._both(ids, name[1])
        return self.seen[name]

    def _both(self, ids: Sequence[int], types: Sequence[int] | None) -> torch.Tensor:
        """At every position of the text, found again after the prompt."""
        first = 1 if self.family == "masked" or self.first is not None else 0
        more = self.prompt_ids
        kinds = None if types is None else [*types[:first], *[0] * len(more), *types[first:]]
        plain = self._shares(ids, types)
        prompted = self._shares([*ids[:first], *more, *ids[first:]], kinds)
        places = [
            at if at < first and self.family == "masked" else at + len(more)
            for at in range(len(ids))
        ]
        difference = plain - prompted[places]
        alpha = torch.where(difference >= 0, 1.0, (self.decay * difference).exp().clamp(self.eps))
        weighted = alpha * plain
        return (weighted / weighted.sum(-1, keepdim=True)).log()

    def _shares(self, ids: Sequence[int], types: Sequence[int] | None) -> torch.Tensor:
        logits: torch.Tensor = self.model(**self.inputs(ids, types)).logits[0]
        return logits.double().softmax(-1)


def slowly(zoo: Zoo, name: str) -> SlowSelfDebias:
    plain = zoo.reference(name)
    slow = SlowSelfDebias(
        plain.family, plain.model, plain.tokenizer, plain.window, plain.first, plain.within_word
    )
    slow.window -= len(slow.prompt_ids)
    return slow
