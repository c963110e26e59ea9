"""Minimal pairs (Nangia et al. 2020, section 3): which of two sentences a model prefers.

`pair-likelihood` is the CrowS-Pairs score: the tokens both sentences share, each masked in turn, given the modified ones.
The others are other quantities under other names: `pair-modified-likelihood` turns it round (the modified tokens given
the shared ones), `pair-sentence-likelihood` and `pair-sentence-mean-likelihood` score the whole sentence from left to
right, and `pair-after-change-likelihood` only the shared tokens that come after the first modified one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from stereometer.errors import ModelError
from stereometer.measures.spans import (
    left_to_right,
    one_at_a_time,
    scored_positions,
    shared_ids,
    shared_words,
    tokens_in,
    versioned,
)
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.shapes.pair.metrics import CANDIDATES
from stereometer.types import (
    Answer,
    Backend,
    CausalTokens,
    Encode,
    Encoding,
    Estimate,
    Request,
    Score,
    Settings,
    Skip,
    Variant,
    WholeText,
)


class PairItem(Protocol):
    @property
    def sent_more(self) -> str: ...

    @property
    def sent_less(self) -> str: ...

    @property
    def unscorable(self) -> str | None: ...


@dataclass(frozen=True)
class Ask:
    """What a rule may use besides the pair."""

    variant: Variant
    encode: Encode
    within_word: bool = False


Aligned = list[tuple[Encoding, list[int]]]
"""Each sentence's encoding and the positions it shares with the other."""


def unmodified(item: PairItem, ask: Ask) -> Aligned:
    align = unmodified_words if ask.variant == "sound" else unmodified_ids
    return list(align(item.sent_more, item.sent_less, ask.encode))


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


# --------------------------------------------------------------------------------------------- rules

Requests = Mapping[str, Sequence[Request]]


def _named(requests: Iterable[Request]) -> Requests:
    return {name: [request] for name, request in zip(CANDIDATES, requests, strict=True)}


def shared_given_modified(item: PairItem, ask: Ask) -> Requests:
    """Under `paper` nothing is asked where nothing is shared: both sums are empty, which is a draw."""
    both = unmodified(item, ask)
    if ask.variant == "paper" and not any(shared for _, shared in both):
        return {}
    return _named(one_at_a_time(encoding, shared, ask.within_word) for encoding, shared in both)


def modified_given_shared(item: PairItem, ask: Ask) -> Requests:
    """The modified tokens revealed from the left, those still to come hidden."""
    found = []
    for encoding, shared in unmodified(item, ask):
        modified = [
            position for position in scored_positions(encoding) if position not in set(shared)
        ]
        if not modified:
            raise Skip("one sentence has no modified token")
        found.append(left_to_right(encoding, modified))
    return _named(found)


def sentence_tokens(item: PairItem, ask: Ask) -> Requests:
    return _named(_from_start(ask.encode(text)) for text in (item.sent_more, item.sent_less))


def _from_start(encoding: Encoding) -> CausalTokens:
    scored = scored_positions(encoding)
    if not scored or len(encoding.ids) < 2:
        raise Skip("no token to score")
    return CausalTokens(encoding.ids, max(1, scored[0]))


def sentence_text(item: PairItem, ask: Ask) -> Requests:
    return _named(WholeText(text) for text in (item.sent_more, item.sent_less))


Reduce = Callable[[PairItem, Ask, str, Answer], float]


def total(item: PairItem, ask: Ask, name: str, answer: Answer) -> float:
    return sum(answer.column("logprob"))


def mean(item: PairItem, ask: Ask, name: str, answer: Answer) -> float:
    row = answer.column("logprob")
    return sum(row) / len(row)


def after_change(item: PairItem, ask: Ask, name: str, answer: Answer) -> float:
    """The sum over what both sentences share after their common beginning, picked from the row of the whole sentence.

    Where either sentence first differs, both are cut: the two sums are over the same words.
    """
    both = unmodified(item, ask)
    beginning = _common_beginning(both)
    if any(position == 0 for _, shared in both for position in shared[beginning:]):
        raise Skip("a shared token has nothing before it")
    encoding, shared = both[CANDIDATES.index(name)]
    if not shared[beginning:]:
        raise Skip("no shared token after the change")
    row, start = answer.column("logprob"), max(1, scored_positions(encoding)[0])
    return sum(row[position - start] for position in shared[beginning:])


def _common_beginning(both: Sequence[tuple[Encoding, list[int]]]) -> int:
    """How many shared tokens stand before the first that is modified in either sentence."""
    return min(
        sum(at == place for at, place in zip(shared, scored_positions(encoding), strict=False))
        for encoding, shared in both
    )


Rule = tuple[str, Callable[[PairItem, Ask], Requests], Reduce]

RULES: Mapping[str, Sequence[Rule]] = {
    "pair-likelihood": [("masked-tokens", shared_given_modified, total)],
    "pair-modified-likelihood": [("masked-tokens", modified_given_shared, mean)],
    "pair-sentence-likelihood": [
        ("causal-tokens", sentence_tokens, total),
        ("whole-text", sentence_text, total),
    ],
    "pair-sentence-mean-likelihood": [
        ("causal-tokens", sentence_tokens, mean),
        ("whole-text", sentence_text, mean),
    ],
    "pair-after-change-likelihood": [("causal-tokens", sentence_tokens, after_change)],
}
"""For each measure the kind of request it needs, what it asks and how a row is reduced; the first that a model supports is taken."""


@dataclass(frozen=True)
class PairLikelihood:
    """A pair measure bound to what a model can answer."""

    name: str
    rule: Rule
    ask: Ask
    reads: str = "pair"

    def plan(self, item: PairItem) -> Requests:
        """The CrowS-Pairs script scores pairs that say nothing too, as draws, and counts them."""
        published = self.ask.variant == "paper" and self.rule[1] is shared_given_modified
        if item.unscorable and not published:
            raise Skip(item.unscorable)
        return self.rule[1](item, self.ask)

    def score(self, item: PairItem, answers: Mapping[str, Sequence[Answer]]) -> Mapping[str, float]:
        if not answers:
            return dict.fromkeys(CANDIDATES, 0.0)
        return {
            name: self.rule[2](item, self.ask, name, given[0]) for name, given in answers.items()
        }

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return pair_metrics.summarize(scores, settings)


@dataclass(frozen=True)
class Binder:
    """What the catalog names: a measure waiting for a model."""

    name: str
    reads: str = "pair"

    def __call__(
        self, backend: Backend, variant: Variant, within_word: bool = False
    ) -> PairLikelihood:
        for rule in RULES[self.name]:
            if rule[0] in backend.supports:
                return PairLikelihood(
                    versioned(self.name, within_word and rule[0] == "masked-tokens"),
                    rule,
                    Ask(variant, backend.encode, within_word),
                )
        ways = " or ".join(rule[0] for rule in RULES[self.name])
        raise ModelError(
            f"{backend.card.name} cannot answer {self.name}. It needs {ways}; the model answers {', '.join(sorted(backend.supports))}. Choose another measure."
        )


LIKELIHOOD = Binder("pair-likelihood")
MODIFIED = Binder("pair-modified-likelihood")
SENTENCE = Binder("pair-sentence-likelihood")
SENTENCE_MEAN = Binder("pair-sentence-mean-likelihood")
AFTER_CHANGE = Binder("pair-after-change-likelihood")
