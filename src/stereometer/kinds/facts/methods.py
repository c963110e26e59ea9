"""Facts: which of two sentences a model finds likelier, the right one or the wrong one.

Masked models are asked for what differs, given the rest: erasing an attribute changes what a model
says of exactly those words. Causal models read the whole sentence, in which what differs comes
after the word that decides it.
"""

from typing import Any

from stereometer.core.methods import two_sentences
from stereometer.core.methods.declared import OURS, Scoring
from stereometer.core.types import Backend, Method, Variant
from stereometer.kinds.facts.shape import FACT, SHAPE

RULES: tuple[two_sentences.Rule, ...] = (
    two_sentences.Rule("masked-tokens", two_sentences.modified_given_shared, two_sentences.total),
    two_sentences.Rule("causal-tokens", two_sentences.sentence_tokens, two_sentences.total),
    two_sentences.Rule("whole-text", two_sentences.sentence_text, two_sentences.total),
)


class FactLikelihood(two_sentences.TwoSentences):
    """The method bound to what a model can answer."""

    summarize = staticmethod(SHAPE.summarize)


class FactMethod(Method):
    """The first of the rules that a model can answer."""

    def bind(self, backend: Backend, variant: Variant, options: Any) -> FactLikelihood:
        rule = RULES[self.needed_way(backend, FACT)]
        how = Scoring(variant, backend.encode)
        return FactLikelihood(self.label(backend, [rule[0]]), rule, how)


LIKELIHOOD = FactMethod(
    "fact-likelihood",
    FACT,
    needs={FACT: two_sentences.needs_of(RULES)},
    variants=("sound",),
    source=f"{OURS}: facts against their contradiction",
)
