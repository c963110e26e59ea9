"""Facts: which of two sentences a model finds likelier, the right one or the wrong one.

Masked models are asked for what differs, given the rest: erasing an attribute changes what a model
says of exactly those words. Causal models read the whole sentence, in which what differs comes
after the word that decides it.
"""

from __future__ import annotations

from typing import Any

from stereometer.core.methods.declared import Declared, Scoring
from stereometer.core.methods.two_sentences import (
    Rule,
    TwoSentences,
    modified_given_shared,
    needs_of,
    sentence_text,
    sentence_tokens,
    total,
)
from stereometer.core.types import Backend, Variant
from stereometer.kinds.facts.items import FACT
from stereometer.kinds.facts.shape import SHAPE

RULES: tuple[Rule, ...] = (
    ("masked-tokens", modified_given_shared, total),
    ("causal-tokens", sentence_tokens, total),
    ("whole-text", sentence_text, total),
)


class FactLikelihood(TwoSentences):
    """The method bound to what a model can answer."""

    summarize = staticmethod(SHAPE.summarize)


class FactMethod(Declared):
    """The first of the rules that a model can answer."""

    def bind(self, backend: Backend, variant: Variant, options: Any) -> FactLikelihood:
        rule = RULES[self.needed_way(backend, FACT)]
        how = Scoring(variant, backend.encode)
        return FactLikelihood(self.label(backend, [rule[0]]), rule, how)


LIKELIHOOD = FactMethod("fact-likelihood", FACT, needs={FACT: needs_of(RULES)}, variants=("sound",))
