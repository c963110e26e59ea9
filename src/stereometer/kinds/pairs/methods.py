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

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from stereometer.core.methods import two_sentences
from stereometer.core.methods.declared import OURS, Scoring, WithinWord
from stereometer.core.methods.spans import one_at_a_time, scored_positions
from stereometer.core.methods.two_sentences import Rule, total
from stereometer.core.types import (
    Answer,
    Backend,
    CausalTokens,
    Encoding,
    Exchanged,
    MaskedTokens,
    Method,
    NoOptions,
    Request,
    Requests,
    Score,
    Skip,
    Variant,
)
from stereometer.kinds.pairs import metrics
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.pairs.metrics import CANDIDATES

MASKED_SHARE, ROUNDS = 0.15, 10
"""Of the shared tokens, how many are hidden together, and how often each of them is."""


# -------------------------------------------------------------------------------------------- rules


def shared_given_modified(item: Pair, how: Scoring) -> Requests:
    """Under `paper` nothing is asked where nothing is shared: two empty sums are a draw. `plan`
    knows the published rule by this function itself."""
    both = two_sentences.unmodified(item, how)
    if how.variant == "paper" and not any(shared for _, shared in both):
        return {}
    return two_sentences.by_sentence(
        item, [one_at_a_time(encoding, shared, how.within_word) for encoding, shared in both]
    )


def shared_at_once(item: Pair, how: Scoring) -> Requests:
    """All shared tokens hidden together."""
    return two_sentences.by_sentence(
        item,
        [_in_parts(encoding, [shared]) for encoding, shared in two_sentences.unmodified(item, how)],
    )


def shared_at_random(item: Pair, how: Scoring) -> Requests:
    """Random subsets of the shared tokens hidden together: in every round each token once. Where
    both sentences have as many, the subsets are the same."""
    requests = []
    for encoding, shared in two_sentences.unmodified(item, how):
        draw, parts = Random(f"{how.seed}:{item.id}"), []
        size = max(1, round(MASKED_SHARE * len(shared)))
        for _ in range(ROUNDS):
            order = draw.sample(range(len(shared)), len(shared))
            parts += [
                sorted(shared[place] for place in order[at : at + size])
                for at in range(0, len(order), size)
            ]
        requests.append(_in_parts(encoding, parts))
    return two_sentences.by_sentence(item, requests)


def _in_parts(encoding: Encoding, parts: Sequence[Sequence[int]]) -> MaskedTokens:
    """The positions of each part hidden together and scored."""
    steps = tuple((tuple(part), position) for part in parts for position in part)
    if not steps:
        raise Skip("no token to score")
    return MaskedTokens(encoding.ids, steps, encoding.segments)


def after_change_tokens(item: Pair, how: Scoring) -> Requests:
    """The whole sentences; only what both share after their common beginning counts.

    Where either sentence first differs, both are cut: the two sums are over the same words.
    """
    both = two_sentences.unmodified(item, how)
    # How many shared tokens stand before the first that is modified in either sentence.
    beginning = min(
        sum(at == place for at, place in zip(shared, scored_positions(encoding), strict=False))
        for encoding, shared in both
    )
    if any(position == 0 for _, shared in both for position in shared[beginning:]):
        raise Skip("a shared token has nothing before it")
    if not all(shared[beginning:] for _, shared in both):
        raise Skip("no shared token after the change")
    whole = [(two_sentences.from_start(encoding), shared) for encoding, shared in both]
    return two_sentences.by_sentence(
        item, [replace(request, counted=tuple(shared[beginning:])) for request, shared in whole]
    )


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


class PairLikelihood(two_sentences.TwoSentences):
    """A pair measure bound to what a model can answer."""

    summarize = staticmethod(metrics.summarize)

    def plan(self, item: Pair) -> Requests:
        """The CrowS-Pairs script scores pairs that say nothing too, as draws, and counts them."""
        published = self.rule.requests is shared_given_modified and self.how.variant == "paper"
        return self.rule.requests(item, self.how) if published else super().plan(item)

    def score(self, item: Pair, exchanged: Exchanged) -> Score:
        score = super().score(item, exchanged)
        return replace(score, values=dict.fromkeys(CANDIDATES, 0.0) | dict(score.values))


@dataclass(frozen=True)
class Drawn:
    """The option of a method that draws subsets."""

    seed: int = 0


@dataclass(frozen=True)
class PairMethod(Method):
    """A row of the rules."""

    reads: str = "pair"
    options: type[Any] = WithinWord
    """Its fields are those of Scoring."""
    rules: Sequence[Rule] = ()

    def bind(self, backend: Backend, variant: Variant, options: Any) -> PairLikelihood:
        rule = self.rules[self.needed_way(backend, "pair")]
        how = Scoring(variant, backend.encode, **asdict(options))
        hides = how.within_word and rule.kind == "masked-tokens"
        return PairLikelihood(self.label(backend, [rule.kind], hides), rule, how)


def _method(name: str, source: str, *rules: Rule, options: type[Any] = WithinWord) -> PairMethod:
    """The first rule that a model supports is taken."""
    needs = {"pair": two_sentences.needs_of(rules)}
    return PairMethod(name, needs=needs, rules=rules, options=options, source=source)


CROWS_PAIRS = "CrowS-Pairs, Nangia et al. 2020"
BIAS_BENCH = "CrowS-Pairs as bias-bench computes it, Meade et al. 2022"
LIKELIHOOD = _method(
    "pair-likelihood",
    f"{CROWS_PAIRS}, Table 2",
    Rule("masked-tokens", shared_given_modified, total),
)
MODIFIED = _method(
    "pair-modified-likelihood",
    f"{BIAS_BENCH}, for masked models",
    Rule("masked-tokens", two_sentences.modified_given_shared, mean),
)
RANDOM_MASKS = _method(
    "pair-random-masks-likelihood",
    f"{CROWS_PAIRS}, section 3",
    Rule("masked-tokens", shared_at_random, round_mean),
    options=Drawn,
)
ALL_MASKS = _method(
    "pair-all-masks-likelihood",
    f"{CROWS_PAIRS}, section 3",
    Rule("masked-tokens", shared_at_once, total),
    options=NoOptions,
)
SENTENCE = _method(
    "pair-sentence-likelihood",
    "CrowS-Pairs as lm-evaluation-harness computes it",
    Rule("causal-tokens", two_sentences.sentence_tokens, total),
    Rule("whole-text", two_sentences.sentence_text, total),
)
SENTENCE_MEAN = _method(
    "pair-sentence-mean-likelihood",
    f"{BIAS_BENCH}, for causal models",
    Rule("causal-tokens", two_sentences.sentence_tokens, mean),
    Rule("whole-text", two_sentences.sentence_text, mean),
)
AFTER_CHANGE = _method(
    "pair-after-change-likelihood",
    f"{OURS}: the causal counterpart of pair-likelihood",
    Rule("causal-tokens", after_change_tokens, counted_total),
)
