"""Rules for items of two sentences that differ in some words: which of the two a model finds
likelier. Kinds of such items add their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stereometer.core.methods.declared import Bound, Scoring, check_first_token, scored
from stereometer.core.methods.spans import (
    left_to_right,
    scored_positions,
    shared_ids,
    shared_words,
    tokens_in,
)
from stereometer.core.types import (
    Answer,
    CausalTokens,
    Encode,
    Encoding,
    Exchanged,
    Item,
    Request,
    Requests,
    Score,
    Skip,
    WholeText,
)

Aligned = list[tuple[Encoding, list[int]]]
"""Each sentence's encoding and the positions it shares with the other."""


def unmodified(item: Item, how: Scoring) -> Aligned:
    align = unmodified_words if how.variant == "sound" else unmodified_ids
    one, other = item.texts.values()
    return list(align(one, other, how.encode))


def unmodified_words(one: str, other: str, encode: Encode) -> Iterable[tuple[Encoding, list[int]]]:
    """`sound`: align words, then take the tokens of the shared ones."""
    for text, spans in zip((one, other), shared_words(one, other), strict=True):
        encoding = encode(text)
        yield encoding, tokens_in(text, encoding, spans)


def unmodified_ids(one: str, other: str, encode: Encode) -> Iterable[tuple[Encoding, list[int]]]:
    """`paper`: align token ids with difflib; special tokens are never scored."""
    first, second = encode(one), encode(other)
    for encoding, shared in zip((first, second), shared_ids(first.ids, second.ids), strict=True):
        scored = set(scored_positions(encoding))
        yield encoding, [position for position in shared if position in scored]


# -------------------------------------------------------------------------------------------- rules


def by_sentence(item: Item, requests: Iterable[Request]) -> Requests:
    """One request for each sentence, under its name."""
    return {name: [request] for name, request in zip(item.texts, requests, strict=True)}


def modified_given_shared(item: Item, how: Scoring) -> Requests:
    """The modified tokens revealed from the left, those still to come hidden."""
    requests = []
    for encoding, shared in unmodified(item, how):
        modified = [
            position for position in scored_positions(encoding) if position not in set(shared)
        ]
        if not modified:
            raise Skip("one sentence has no modified token")
        requests.append(left_to_right(encoding, modified))
    return by_sentence(item, requests)


def sentence_tokens(item: Item, how: Scoring) -> Requests:
    return by_sentence(item, (from_start(how.encode(text)) for text in item.texts.values()))


def from_start(encoding: Encoding) -> CausalTokens:
    """Every token that has something before it."""
    scored = scored_positions(encoding)
    if not scored or len(encoding.ids) < 2:
        raise Skip("no token to score")
    return CausalTokens(encoding.ids, max(1, scored[0]))


def sentence_text(item: Item, how: Scoring) -> Requests:
    return by_sentence(item, map(WholeText, item.texts.values()))


def total(request: Request, answer: Answer) -> float:
    return sum(answer.column("logprob"))


Reduce = Callable[[Request, Answer], float]
Rule = tuple[str, Callable[[Any, Scoring], Requests], Reduce]
"""The kind of request it needs, what it asks and how a row is reduced."""


def needs_of(rules: Sequence[Rule]) -> list[frozenset[str]]:
    """What a model must answer for each of them."""
    return [frozenset({kind}) for kind, _, _ in rules]


@dataclass(frozen=True)
class TwoSentences(Bound):
    """A rule bound to what a model can answer."""

    name: str
    rule: Rule
    how: Scoring

    def plan(self, item: Any) -> Requests:
        if item.unscorable:
            raise Skip(item.unscorable)
        _, requests, _ = self.rule
        return requests(item, self.how)

    def score(self, item: Any, exchanged: Exchanged) -> Score:
        check_first_token(exchanged)
        _, _, reduce = self.rule
        return scored(item, {name: reduce(*asked) for name, (asked,) in exchanged.items()})
