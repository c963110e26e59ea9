"""Facts: which of two sentences a model finds likelier, the right one or the wrong one.

Masked models are asked for what differs, given the rest: erasing an attribute changes what a model
says of exactly those words. Causal models read the whole sentence, in which what differs comes
after the word that decides it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stereometer.measures.declared import Bound, Declared, Scoring, scored
from stereometer.measures.pair_likelihood import (
    Rule,
    modified_given_shared,
    sentence_text,
    sentence_tokens,
    total,
)
from stereometer.shapes.fact import FACT, SHAPE, Fact
from stereometer.types import (
    Backend,
    Estimate,
    Exchanged,
    Requests,
    Score,
    Settings,
    Variant,
)

RULES: tuple[Rule, ...] = (
    ("masked-tokens", modified_given_shared, total),
    ("causal-tokens", sentence_tokens, total),
    ("whole-text", sentence_text, total),
)


@dataclass(frozen=True)
class FactLikelihood(Bound):
    """The method bound to what a model can answer."""

    name: str
    rule: Rule
    how: Scoring

    def plan(self, item: Fact) -> Requests:
        _, requests, _ = self.rule
        return requests(item, self.how)

    def score(self, item: Fact, exchanged: Exchanged) -> Score:
        _, _, reduce = self.rule
        values = [reduce(*asked) for (asked,) in exchanged.values()]
        return scored(item, dict(zip(item.texts, values, strict=True)))

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return SHAPE.summarize(scores, settings)


@dataclass(frozen=True)
class FactMethod(Declared):
    def bind(self, backend: Backend, variant: Variant, options: Any) -> FactLikelihood:
        way = self.way(backend, FACT)
        if way is None:
            raise self.refusal(backend, FACT)
        return FactLikelihood(self.label(variant), RULES[way], Scoring(variant, backend.encode))


LIKELIHOOD = FactMethod(
    "fact-likelihood",
    FACT,
    needs={FACT: [frozenset({kind}) for kind, _, _ in RULES]},
    variants=("sound",),
)
