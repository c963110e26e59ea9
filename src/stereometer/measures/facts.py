"""Facts: which of two sentences a model finds likelier, the right one or the wrong one.

Masked models are asked for what differs, given the rest: erasing an attribute changes what a model
says of exactly those words. Causal models read the whole sentence, in which what differs comes
after the word that decides it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from stereometer.measures.declared import Declared, Scoring
from stereometer.measures.pair_likelihood import (
    PairItem,
    PairLikelihood,
    Rule,
    modified_given_shared,
    sentence_text,
    sentence_tokens,
    total,
)
from stereometer.shapes.fact import FACT, SHAPE
from stereometer.types import Backend, Exchanged, Score, Variant

RULES: tuple[Rule, ...] = (
    ("masked-tokens", modified_given_shared, total),
    ("causal-tokens", sentence_tokens, total),
    ("whole-text", sentence_text, total),
)


class FactLikelihood(PairLikelihood):
    """The method bound to what a model can answer."""

    summarize = staticmethod(SHAPE.summarize)

    def score(self, item: PairItem, exchanged: Exchanged) -> Score:
        score = super().score(item, exchanged)
        return replace(score, values=dict(zip(item.texts, score.values.values(), strict=True)))


@dataclass(frozen=True)
class FactMethod(Declared):
    def bind(self, backend: Backend, variant: Variant, options: Any) -> FactLikelihood:
        rule = RULES[self.needed_way(backend, FACT)]
        return FactLikelihood(
            self.label(backend, [rule[0]]), rule, Scoring(variant, backend.encode)
        )


LIKELIHOOD = FactMethod(
    "fact-likelihood",
    FACT,
    needs={FACT: [frozenset({kind}) for kind, _, _ in RULES]},
    variants=("sound",),
)
