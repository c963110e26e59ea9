"""Minimal pairs (Nangia et al. 2020, section 3): which of two sentences a model prefers.

`pair-likelihood` is the CrowS-Pairs score, p(unmodified tokens | modified tokens), one token masked at a time.
`pair-sentence-likelihood` is the log-likelihood of the whole sentence: another quantity under another name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from stereometer.errors import ModelError
from stereometer.measures import pair_metrics
from stereometer.measures.pair_metrics import CANDIDATES
from stereometer.measures.spans import one_at_a_time, scored_positions, shared_ids, shared_words, tokens_in
from stereometer.types import Answer, Backend, CausalTokens, Encode, Encoding, Estimate, Request, Score, Settings, Skip, Variant, WholeText


class PairItem(Protocol):
    @property
    def sent_more(self) -> str: ...

    @property
    def sent_less(self) -> str: ...

    @property
    def unscorable(self) -> str | None: ...


def unmodified_words(more: str, less: str, encode: Encode) -> Iterable[tuple[Encoding, list[int]]]:
    """`sound`: align words, then take the tokens of the shared ones."""
    for text, spans in zip((more, less), shared_words(more, less), strict=True):
        encoding = encode(text)
        yield encoding, tokens_in(text, encoding, spans)


def unmodified_ids(more: str, less: str, encode: Encode) -> Iterable[tuple[Encoding, list[int]]]:
    """`paper`: align token ids with difflib; special tokens are never scored."""
    first, second = encode(more), encode(less)
    for encoding, shared in zip((first, second), shared_ids(first.ids, second.ids), strict=True):
        scored = set(scored_positions(encoding))
        yield encoding, [position for position in shared if position in scored]


def conditional(item: PairItem, variant: Variant, encode: Encode) -> Mapping[str, Sequence[Request]]:
    align = unmodified_words if variant == "sound" else unmodified_ids
    found = align(item.sent_more, item.sent_less, encode)
    return {name: [one_at_a_time(*one)] for name, one in zip(CANDIDATES, found, strict=True)}


def sentence_tokens(item: PairItem, variant: Variant, encode: Encode) -> Mapping[str, Sequence[Request]]:
    return {name: [CausalTokens(encode(text).ids, 0)] for name, text in zip(CANDIDATES, (item.sent_more, item.sent_less), strict=True)}


def sentence_text(item: PairItem, variant: Variant, encode: Encode) -> Mapping[str, Sequence[Request]]:
    return {name: [WholeText(text)] for name, text in zip(CANDIDATES, (item.sent_more, item.sent_less), strict=True)}


Ask = Callable[[PairItem, Variant, Encode], Mapping[str, Sequence[Request]]]

RULES: Mapping[str, Sequence[tuple[str, Ask]]] = {
    "pair-likelihood": [("masked-tokens", conditional)],
    "pair-sentence-likelihood": [("causal-tokens", sentence_tokens), ("whole-text", sentence_text)],
}
"""For each measure the kind of request it needs; the first that a model supports is taken."""


@dataclass(frozen=True)
class PairLikelihood:
    """A pair measure bound to what a model can answer."""

    name: str
    variant: Variant
    ask: Ask
    encode: Encode
    reads: str = "pair"

    def plan(self, item: PairItem) -> Mapping[str, Sequence[Request]]:
        if item.unscorable:
            raise Skip(item.unscorable)
        return self.ask(item, self.variant, self.encode)

    def score(self, item: PairItem, answers: Mapping[str, Sequence[Answer]]) -> Mapping[str, float]:
        return {name: sum(given[0].column("logprob")) for name, given in answers.items()}

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return pair_metrics.summarize(scores, settings)


def conditional_likelihood(backend: Backend, variant: Variant) -> PairLikelihood:
    return _bound("pair-likelihood", backend, variant)


def sentence_likelihood(backend: Backend, variant: Variant) -> PairLikelihood:
    return _bound("pair-sentence-likelihood", backend, variant)


def _bound(name: str, backend: Backend, variant: Variant) -> PairLikelihood:
    for needs, ask in RULES[name]:
        if needs in backend.supports:
            return PairLikelihood(f"{name}@1", variant, ask, backend.encode)
    ways = " or ".join(needs for needs, _ in RULES[name])
    raise ModelError(
        f"{backend.card.name} cannot answer {name}. It needs {ways}; the model answers {', '.join(sorted(backend.supports))}. Choose another measure."
    )
