"""Rules for items of two sentences that differ in some words: which of the two a model finds
likelier. Kinds of such items add their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
    """`sound` aligns words, then takes the tokens of the shared ones; `paper` aligns token ids with
    difflib. Special tokens are never scored."""
    texts = list(item.texts.values())
    if how.variant == "sound":
        aligned = []
        for text, spans in zip(texts, shared_words(*texts), strict=True):
            encoding = how.encode(text)
            aligned.append((encoding, tokens_in(text, encoding, spans)))
        return aligned
    encodings = [how.encode(text) for text in texts]
    both = shared_ids(*(encoding.ids for encoding in encodings))
    return [
        (encoding, [position for position in shared if encoding.words[position] is not None])
        for encoding, shared in zip(encodings, both, strict=True)
    ]


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


class Rule(NamedTuple):
    kind: str
    """Of the requests that a model must answer."""
    requests: Callable[[Any, Scoring], Requests]
    reduce: Reduce
    """A row to one number."""


def needs_of(rules: Sequence[Rule]) -> list[frozenset[str]]:
    """What a model must answer for each of them."""
    return [frozenset({rule.kind}) for rule in rules]


@dataclass(frozen=True)
class TwoSentences(Bound):
    """A rule bound to what a model can answer."""

    name: str
    rule: Rule
    how: Scoring

    def plan(self, item: Any) -> Requests:
        if item.unscorable:
            raise Skip(item.unscorable)
        return self.rule.requests(item, self.how)

    def score(self, item: Any, exchanged: Exchanged) -> Score:
        check_first_token(exchanged)
        values = {name: self.rule.reduce(*asked) for name, (asked,) in exchanged.items()}
        return scored(item, values)
