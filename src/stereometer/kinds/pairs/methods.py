"""Minimal pairs (Nangia et al. 2020, section 3): which of two sentences a model prefers.

`pair-likelihood` is the CrowS-Pairs score: the tokens both sentences share, each masked in turn,
given the modified ones. The others are other quantities under other names:
`pair-modified-likelihood` turns it round (the modified tokens given the shared ones),
`pair-random-masks-likelihood` and `pair-all-masks-likelihood` hide a random 15 % or all of the
shared tokens together (the formulations that the paper tried and left),
`pair-sentence-likelihood` and `pair-sentence-mean-likelihood` score the whole sentence from left to
right, and `pair-after-change-likelihood` only the shared tokens that come after the first modified
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from stereometer.core.methods.declared import (
    Bound,
    Declared,
    Scoring,
    WithinWord,
    check_first_token,
    scored,
)
from stereometer.core.methods.spans import (
    left_to_right,
    one_at_a_time,
    scored_positions,
    shared_ids,
    shared_words,
    tokens_in,
)
from stereometer.core.types import (
    Answer,
    Backend,
    CausalTokens,
    Encode,
    Encoding,
    Exchanged,
    MaskedTokens,
    NoOptions,
    Request,
    Requests,
    Score,
    Skip,
    Variant,
    WholeText,
)
from stereometer.kinds.facts.shape import FACT, Fact
from stereometer.kinds.facts.shape import SHAPE as FACT_SHAPE
from stereometer.kinds.pairs import metrics
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.pairs.metrics import CANDIDATES

PairItem = Pair | Fact
MASKED_SHARE, ROUNDS = 0.15, 10
"""Of the shared tokens, how many are hidden together, and how often each of them is."""

Aligned = list[tuple[Encoding, list[int]]]
"""Each sentence's encoding and the positions it shares with the other."""


def unmodified(item: PairItem, how: Scoring) -> Aligned:
    align = unmodified_words if how.variant == "sound" else unmodified_ids
    return list(align(item.sent_more, item.sent_less, how.encode))


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


# -------------------------------------------------------------------------------------------- rules


def _named(requests: Iterable[Request]) -> Requests:
    return {name: [request] for name, request in zip(CANDIDATES, requests, strict=True)}


def shared_given_modified(item: PairItem, how: Scoring) -> Requests:
    """Under `paper` nothing is asked where nothing is shared: two empty sums are a draw."""
    both = unmodified(item, how)
    if how.variant == "paper" and not any(shared for _, shared in both):
        return {}
    return _named(one_at_a_time(encoding, shared, how.within_word) for encoding, shared in both)


def modified_given_shared(item: PairItem, how: Scoring) -> Requests:
    """The modified tokens revealed from the left, those still to come hidden."""
    requests = []
    for encoding, shared in unmodified(item, how):
        modified = [
            position for position in scored_positions(encoding) if position not in set(shared)
        ]
        if not modified:
            raise Skip("one sentence has no modified token")
        requests.append(left_to_right(encoding, modified))
    return _named(requests)


def shared_at_once(item: PairItem, how: Scoring) -> Requests:
    """All shared tokens hidden together."""
    return _named(_in_parts(encoding, [shared]) for encoding, shared in unmodified(item, how))


def shared_at_random(item: PairItem, how: Scoring) -> Requests:
    """Random subsets of the shared tokens hidden together: in every round each token once. Where
    both sentences have as many, the subsets are the same."""
    requests = []
    for encoding, shared in unmodified(item, how):
        draw, parts = Random(f"{how.seed}:{item.id}"), []
        size = max(1, round(MASKED_SHARE * len(shared)))
        for _ in range(ROUNDS):
            order = draw.sample(range(len(shared)), len(shared))
            parts += [
                sorted(shared[place] for place in order[at : at + size])
                for at in range(0, len(order), size)
            ]
        requests.append(_in_parts(encoding, parts))
    return _named(requests)


def _in_parts(encoding: Encoding, parts: Sequence[Sequence[int]]) -> MaskedTokens:
    """The positions of each part hidden together and scored."""
    steps = tuple((tuple(part), position) for part in parts for position in part)
    if not steps:
        raise Skip("no token to score")
    return MaskedTokens(encoding.ids, steps, encoding.segments)


def sentence_tokens(item: PairItem, how: Scoring) -> Requests:
    return _named(_from_start(how.encode(text)) for text in (item.sent_more, item.sent_less))


def _from_start(encoding: Encoding) -> CausalTokens:
    scored = scored_positions(encoding)
    if not scored or len(encoding.ids) < 2:
        raise Skip("no token to score")
    return CausalTokens(encoding.ids, max(1, scored[0]))


def sentence_text(item: PairItem, how: Scoring) -> Requests:
    return _named(WholeText(text) for text in (item.sent_more, item.sent_less))


def after_change_tokens(item: PairItem, how: Scoring) -> Requests:
    """The whole sentences; only what both share after their common beginning counts.

    Where either sentence first differs, both are cut: the two sums are over the same words.
    """
    both = unmodified(item, how)
    # How many shared tokens stand before the first that is modified in either sentence.
    beginning = min(
        sum(at == place for at, place in zip(shared, scored_positions(encoding), strict=False))
        for encoding, shared in both
    )
    if any(position == 0 for _, shared in both for position in shared[beginning:]):
        raise Skip("a shared token has nothing before it")
    if not all(shared[beginning:] for _, shared in both):
        raise Skip("no shared token after the change")
    return _named(
        replace(_from_start(encoding), counted=tuple(shared[beginning:]))
        for encoding, shared in both
    )


Reduce = Callable[[Request, Answer], float]


def total(request: Request, answer: Answer) -> float:
    return sum(answer.column("logprob"))


def mean(request: Request, answer: Answer) -> float:
    row = answer.column("logprob")
    return sum(row) / len(row)


def round_mean(request: Request, answer: Answer) -> float:
    """The sum of a round, averaged over rounds."""
    return total(request, answer) / ROUNDS


def counted_total(request: Request, answer: Answer) -> float:
    """The sum over the positions that count, picked from the row of the whole sentence."""
    if not isinstance(request, CausalTokens):
        raise TypeError(f"{request.kind} counts no positions")
    row = answer.column("logprob")
    return sum(row[position - request.start] for position in request.counted)


Rule = tuple[str, Callable[[PairItem, Scoring], Requests], Reduce]

RULES: Mapping[str, Sequence[Rule]] = {
    "pair-likelihood": [("masked-tokens", shared_given_modified, total)],
    "pair-modified-likelihood": [("masked-tokens", modified_given_shared, mean)],
    "pair-random-masks-likelihood": [("masked-tokens", shared_at_random, round_mean)],
    "pair-all-masks-likelihood": [("masked-tokens", shared_at_once, total)],
    "pair-sentence-likelihood": [
        ("causal-tokens", sentence_tokens, total),
        ("whole-text", sentence_text, total),
    ],
    "pair-sentence-mean-likelihood": [
        ("causal-tokens", sentence_tokens, mean),
        ("whole-text", sentence_text, mean),
    ],
    "pair-after-change-likelihood": [("causal-tokens", after_change_tokens, counted_total)],
}
"""For each measure the kind of request it needs, what it asks and how a row is reduced; the first
that a model supports is taken."""


@dataclass(frozen=True)
class PairLikelihood(Bound):
    """A pair measure bound to what a model can answer."""

    name: str
    rule: Rule
    how: Scoring
    summarize = staticmethod(metrics.summarize)

    def plan(self, item: PairItem) -> Requests:
        """The CrowS-Pairs script scores pairs that say nothing too, as draws, and counts them."""
        _, requests, _ = self.rule
        published = self.how.variant == "paper" and requests is shared_given_modified
        if item.unscorable and not published:
            raise Skip(item.unscorable)
        return requests(item, self.how)

    def score(self, item: PairItem, exchanged: Exchanged) -> Score:
        check_first_token(exchanged)
        _, _, reduce = self.rule
        draw = dict.fromkeys(CANDIDATES, 0.0)
        return scored(item, draw | {name: reduce(*asked) for name, (asked,) in exchanged.items()})


@dataclass(frozen=True)
class Drawn:
    """The option of a method that draws subsets."""

    seed: int = 0


@dataclass(frozen=True)
class PairMethod(Declared):
    """A row of the rules."""

    reads: str = "pair"
    options: type[Any] = WithinWord
    """Its fields are those of Scoring."""
    rules: Sequence[Rule] = ()

    def bind(self, backend: Backend, variant: Variant, options: Any) -> PairLikelihood:
        rule = self.rules[self.needed_way(backend, "pair")]
        how = Scoring(variant, backend.encode, **asdict(options))
        hides = how.within_word and rule[0] == "masked-tokens"
        return PairLikelihood(self.label(backend, [rule[0]], hides), rule, how)


OPTIONS: Mapping[str, type[Any]] = {
    "pair-random-masks-likelihood": Drawn,
    "pair-all-masks-likelihood": NoOptions,
}
"""Of methods to which `--within-word` means nothing."""
LIKELIHOOD, MODIFIED, RANDOM_MASKS, ALL_MASKS, SENTENCE, SENTENCE_MEAN, AFTER_CHANGE = (
    PairMethod(
        name,
        needs={"pair": [frozenset({kind}) for kind, _, _ in rules]},
        rules=rules,
        options=OPTIONS.get(name, WithinWord),
    )
    for name, rules in RULES.items()
)


FACT_RULES: tuple[Rule, ...] = (
    ("masked-tokens", modified_given_shared, total),
    ("causal-tokens", sentence_tokens, total),
    ("whole-text", sentence_text, total),
)


class FactLikelihood(PairLikelihood):
    """The method bound to what a model can answer."""

    summarize = staticmethod(FACT_SHAPE.summarize)

    def score(self, item: PairItem, exchanged: Exchanged) -> Score:
        score = super().score(item, exchanged)
        return replace(score, values=dict(zip(item.texts, score.values.values(), strict=True)))


@dataclass(frozen=True)
class FactMethod(Declared):
    """Facts: which of two sentences a model finds likelier, the right one or the wrong one.

    Masked models are asked for what differs, given the rest: erasing an attribute changes what a
    model says of exactly those words. Causal models read the whole sentence, in which what differs
    comes after the word that decides it.
    """

    def bind(self, backend: Backend, variant: Variant, options: Any) -> FactLikelihood:
        rule = FACT_RULES[self.needed_way(backend, FACT)]
        return FactLikelihood(
            self.label(backend, [rule[0]]), rule, Scoring(variant, backend.encode)
        )


FACT_LIKELIHOOD = FactMethod(
    "fact-likelihood",
    FACT,
    needs={FACT: [frozenset({kind}) for kind, _, _ in FACT_RULES]},
    variants=("sound",),
)
