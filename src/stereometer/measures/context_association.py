"""Context Association Tests (Nadeem et al. 2021, section 6): how a candidate is scored, by what a model can answer.

`cat-likelihood` asks how well the candidate fits (next-sentence prediction across sentences);
`cat-pseudo-likelihood` asks how well the rest fits the candidate. The table RULES is the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from stereometer.errors import ModelError
from stereometer.measures import cat_metrics
from stereometer.measures.cat_metrics import CANDIDATES
from stereometer.measures.spans import Span, one_at_a_time, scored_positions, tokens_in
from stereometer.types import (
    Answer,
    Backend,
    CausalTokens,
    Continuation,
    Encode,
    Estimate,
    Follows,
    Request,
    Score,
    Settings,
    Skip,
    Variant,
    WholeText,
)


class CatItem(Protocol):
    """What the measure needs of an item."""

    @property
    def id(self) -> str: ...

    @property
    def task(self) -> str: ...

    @property
    def context(self) -> str: ...

    @property
    def texts(self) -> Mapping[str, str]: ...

    @property
    def unscorable(self) -> str | None: ...

    def filler(self, label: str) -> str | None: ...


def filled(item: CatItem, label: str, variant: Variant) -> tuple[str, list[Span]]:
    """The sentence and where its filler stands.

    `sound` builds it from the context; `paper` takes the candidate as released, 38 % of which are de-capitalised.
    """
    filler = item.filler(label)
    if filler is None:
        raise Skip("the sentence is not the context with its blank filled")
    parts, text, spans = item.context.split("BLANK"), "", []
    for part in parts[:-1]:
        text += part
        spans.append((len(text), len(text) + len(filler)))
        text += filler
    text += parts[-1]
    return (text if variant == "sound" else item.texts[label]), spans


# --------------------------------------------------------------------------------------------- rules


class Rule(Protocol):
    """One cell of the methods table: the requests of a candidate and how their rows become one number."""

    def requests(self, item: CatItem, label: str, variant: Variant, encode: Encode) -> Sequence[Request]: ...

    def reduce(self, answers: Sequence[Answer]) -> float: ...


class SentenceText:
    """The whole filled sentence, mean log-probability a token."""

    def requests(self, item: CatItem, label: str, variant: Variant, encode: Encode) -> Sequence[Request]:
        return [WholeText(filled(item, label, variant)[0])]

    def reduce(self, answers: Sequence[Answer]) -> float:
        return mean(answers[0])


class SentenceTokens(SentenceText):
    """The same from token ids, in one pass from the first token on."""

    def requests(self, item: CatItem, label: str, variant: Variant, encode: Encode) -> Sequence[Request]:
        return [CausalTokens(encode(filled(item, label, variant)[0]).ids, 0)]


class ContextGivenFiller:
    """Every token but the filler's masked one at a time, the filler always visible; sum of log-probabilities."""

    def requests(self, item: CatItem, label: str, variant: Variant, encode: Encode) -> Sequence[Request]:
        text, spans = filled(item, label, variant)
        encoding = encode(text)
        fillers = set(tokens_in(text, encoding, spans))
        return [one_at_a_time(encoding, [one for one in scored_positions(encoding) if one not in fillers])]

    def reduce(self, answers: Sequence[Answer]) -> float:
        return total(answers[0])


class NextSentence:
    """Log-odds that the candidate follows the context."""

    def requests(self, item: CatItem, label: str, variant: Variant, encode: Encode) -> Sequence[Request]:
        return [Follows(item.context, item.texts[label])]

    def reduce(self, answers: Sequence[Answer]) -> float:
        return float(answers[0].column("logodds")[0])


class RatioText:
    """log p(candidate | context) - log p(candidate), tokens of the candidate only."""

    def requests(self, item: CatItem, label: str, variant: Variant, encode: Encode) -> Sequence[Request]:
        return [Continuation(item.context, item.texts[label]), WholeText(item.texts[label])]

    def reduce(self, answers: Sequence[Answer]) -> float:
        return total(answers[0]) - total(answers[1])


class RatioTokens(RatioText):
    """The same from token ids."""

    def requests(self, item: CatItem, label: str, variant: Variant, encode: Encode) -> Sequence[Request]:
        alone, joined = encode(item.texts[label]).ids, encode(f"{item.context} {item.texts[label]}")
        start = tokens_in(f"{item.context} {item.texts[label]}", joined, [(len(item.context) + 1, 10**9)])[0]
        return [CausalTokens(joined.ids, start), CausalTokens(alone, 0)]


class ContextGivenSentence:
    """The context's tokens masked one at a time, the candidate always visible; sum of log-probabilities."""

    def requests(self, item: CatItem, label: str, variant: Variant, encode: Encode) -> Sequence[Request]:
        text = f"{item.context} {item.texts[label]}"
        encoding = encode(text)
        return [one_at_a_time(encoding, tokens_in(text, encoding, [(0, len(item.context))]))]

    def reduce(self, answers: Sequence[Answer]) -> float:
        return total(answers[0])


def total(answer: Answer) -> float:
    return sum(answer.column("logprob"))


def mean(answer: Answer) -> float:
    row = answer.column("logprob")
    return sum(row) / len(row)


RULES: Mapping[tuple[str, str], Sequence[tuple[frozenset[str], Rule]]] = {
    ("cat-likelihood", "intrasentence"): [
        (frozenset({"causal-tokens"}), SentenceTokens()),
        (frozenset({"whole-text"}), SentenceText()),
    ],
    ("cat-likelihood", "intersentence"): [(frozenset({"follows"}), NextSentence())],
    ("cat-pseudo-likelihood", "intrasentence"): [
        (frozenset({"masked-tokens"}), ContextGivenFiller()),
        (frozenset({"causal-tokens"}), SentenceTokens()),
        (frozenset({"whole-text"}), SentenceText()),
    ],
    ("cat-pseudo-likelihood", "intersentence"): [
        (frozenset({"masked-tokens"}), ContextGivenSentence()),
        (frozenset({"causal-tokens"}), RatioTokens()),
        (frozenset({"whole-text", "continuation"}), RatioText()),
    ],
}
"""For each measure and task the kinds of request a rule needs; the first that a model supports is taken."""


# ------------------------------------------------------------------------------------------- measure


@dataclass(frozen=True)
class ContextAssociation:
    """A CAT measure bound to what a model can answer."""

    name: str
    variant: Variant
    rules: Mapping[str, Rule]
    encode: Encode
    reads: str = "cat"

    def plan(self, item: CatItem) -> Mapping[str, Sequence[Request]]:
        if item.unscorable:
            raise Skip(item.unscorable)
        return {label: self.rules[item.task].requests(item, label, self.variant, self.encode) for label in CANDIDATES}

    def score(self, item: CatItem, answers: Mapping[str, Sequence[Answer]]) -> Mapping[str, float]:
        return {label: self.rules[item.task].reduce(answers[label]) for label in CANDIDATES}

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return cat_metrics.summarize(scores, settings)


def likelihood(backend: Backend, variant: Variant) -> ContextAssociation:
    return _bound("cat-likelihood", backend, variant)


def pseudo_likelihood(backend: Backend, variant: Variant) -> ContextAssociation:
    return _bound("cat-pseudo-likelihood", backend, variant)


def _bound(name: str, backend: Backend, variant: Variant) -> ContextAssociation:
    return ContextAssociation(f"{name}@1", variant, {task: _rule(name, task, backend) for task in cat_metrics.TASKS}, backend.encode)


def _rule(name: str, task: str, backend: Backend) -> Rule:
    for needs, rule in RULES[name, task]:
        if needs <= backend.supports:
            return rule
    ways = " or ".join(" and ".join(sorted(needs)) for needs, _ in RULES[name, task])
    raise ModelError(
        f"{backend.card.name} cannot answer {name} on the {task} task. It needs {ways}; the model answers {', '.join(sorted(backend.supports))}. Choose another measure."
    )
