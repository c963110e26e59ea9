"""How a candidate of a CAT is scored: the requests it needs, and how their rows become one number.

The table RULES is the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp
from string import punctuation
from typing import Protocol

import numpy as np

from stereometer.core.methods.declared import Scoring
from stereometer.core.methods.spans import (
    Span,
    left_to_right,
    one_at_a_time,
    scored_positions,
    tokens_in,
)
from stereometer.core.types import (
    Answer,
    CausalTokens,
    Continuation,
    Encoding,
    Follows,
    MaskedTokens,
    Request,
    Skip,
    Variant,
    WholeText,
)
from stereometer.kinds.cats.items import Cat

NO_FILLER = "the filler has no token of its own"
NOT_FILLED = "the sentence is not the context with its blank filled"
NO_PUNCTUATION = str.maketrans("", "", punctuation)


def filled(item: Cat, label: str, variant: Variant) -> tuple[str, list[Span]]:
    """The sentence and where its filler stands.

    `sound` builds it from the context; `paper` takes the candidate as released, 38 % of which are
    de-capitalised.
    """
    filler = item.filler(label)
    if filler is None:
        raise Skip(NOT_FILLED)
    parts, text, spans = item.context.split("BLANK"), "", []
    for part in parts[:-1]:
        text += part
        spans.append((len(text), len(text) + len(filler)))
        text += filler
    text += parts[-1]
    return (text if variant == "sound" else item.texts[label]), spans


# -------------------------------------------------------------------------------------------- rules


class Rule(Protocol):
    """One cell of the methods table: the requests of a candidate and how their rows become one
    number."""

    def requests(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]: ...

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float: ...


class SentenceText:
    """The whole filled sentence, mean log-probability per token."""

    def requests(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        return [WholeText(filled(item, label, how.variant)[0])]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        return mean(row for answer in answers for row in answer.column("logprob"))


class SentenceTokens(SentenceText):
    """From token ids: in one pass after the first-token mark, or (`paper`) the first token
    after it and the rest without it."""

    def requests(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        encoding = how.encode(filled(item, label, how.variant)[0])
        first = scored_positions(encoding)[:1]
        if not first or len(encoding.ids) < 2:
            raise Skip("no token to score")
        start = max(1, first[0])
        if how.variant == "sound" or first[0] == 0:
            return [CausalTokens(encoding.ids, start)]
        return [
            CausalTokens(encoding.ids[: start + 1], start),
            CausalTokens(encoding.ids[start:], 1),
        ]


class FillBlank:
    """The filler revealed piece by piece from the left.

    `sound`: every piece still to come is masked; mean log-probability. `paper`: one mask stands for
    the next piece and the pieces after it are absent; at each step the pieces before it are written
    as text and the whole text is encoded again; mean of the probabilities.
    """

    def requests(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        if item.filler(label) is None:
            raise Skip(NOT_FILLED)
        return (
            self._absent(item, label, how)
            if how.variant == "paper"
            else self._masked(item, label, how)
        )

    def _masked(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        if item.context.count("BLANK") != 1:
            raise Skip("several blanks")
        text, spans = filled(item, label, how.variant)
        encoding = how.encode(text)
        pieces = tokens_in(text, encoding, spans)
        if not pieces:
            raise Skip(NO_FILLER)
        return [left_to_right(encoding, pieces)]

    def _absent(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        if how.mask is None:
            raise Skip("the model has no mask token to put into the blank")
        mask, pieces = (
            _ordinary(how.encode(how.mask)),
            _ordinary(how.encode(released_filler(item, label))),
        )
        if not pieces:
            raise Skip(NO_FILLER)
        return [
            _at_mask(
                _read(item.context.replace("BLANK", _written(pieces[:at], how) + how.mask), how),
                mask,
                piece,
                in_place=bool(how.before),
            )
            for at, piece in enumerate(pieces)
        ]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        row = [value for answer in answers for value in answer.column("logprob")]
        return mean(map(exp, row)) if variant == "paper" else mean(row)


def released_filler(item: Cat, label: str) -> str:
    """What the authors' code takes for the filler: the candidate's word in the place of the last
    word with BLANK, less its punctuation. Text that is glued to the blank belongs to it."""
    places = [at for at, word in enumerate(item.context.split(" ")) if "BLANK" in word]
    words = item.texts[label].split(" ")
    if places[-1] >= len(words):
        raise Skip(NOT_FILLED)
    return words[places[-1]].translate(NO_PUNCTUATION)


def _ordinary(encoding: Encoding) -> list[int]:
    return [encoding.ids[at] for at in scored_positions(encoding)]


def _written(pieces: Sequence[int], how: Scoring) -> str:
    if not pieces:
        return ""
    if how.decode is None:
        raise Skip("the model cannot write its tokens as text")
    return how.decode(pieces)


def _read(text: str, how: Scoring) -> Encoding:
    return how.encode(how.before, text) if how.before else how.encode(text)


def _at_mask(hole: Encoding, mask: Sequence[int], piece: int, in_place: bool) -> MaskedTokens:
    """A piece in the place of the first mask: where a context has two blanks, the second stays
    masked."""
    places = [at for at, token in enumerate(hole.ids) if [token] == mask]
    if not places:
        raise Skip("the mask cannot be found in the context")
    at = places[0]
    ids = (*hole.ids[:at], piece, *hole.ids[at + 1 :])
    return MaskedTokens(ids, (((at,), at),), hole.segments, in_place)


class Summed:
    """Log-probabilities added up."""

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        return sum(map(total, answers))


class ContextGivenFiller(Summed):
    """Every token but the filler's masked one at a time, the filler always visible; sum of
    log-probabilities."""

    def requests(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        text, spans = filled(item, label, how.variant)
        encoding = how.encode(text)
        fillers = set(tokens_in(text, encoding, spans))
        if not fillers:
            raise Skip(NO_FILLER)
        return [
            one_at_a_time(
                encoding,
                [position for position in scored_positions(encoding) if position not in fillers],
                how.within_word,
            )
        ]


class FollowsContext:
    """Whether the candidate follows the context: the log-odds, or (`paper`) the probability in
    single precision, which is the same for candidates that are both nearly certain."""

    def requests(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        return [Follows(item.context, item.texts[label])]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        odds = float(answers[0].column("logodds")[0])
        return single_probability(odds) if variant == "paper" else odds


def single_probability(logodds: float) -> float:
    """As a softmax over two outputs gives it in float32: the larger output is subtracted first."""
    larger, smaller = np.exp(np.array([0.0, -abs(logodds)], dtype=np.float32))
    return float((larger if logodds >= 0 else smaller) / (larger + smaller))


class RatioText:
    """log p(candidate | context) - log p(candidate), tokens of the candidate only."""

    def requests(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        # With the space that stands before it after the context, so that it has the same tokens
        # alone.
        return [Continuation(item.context, item.texts[label]), WholeText(f" {item.texts[label]}")]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        return total(answers[0]) - total(answers[1])


class RatioTokens(RatioText):
    """From token ids: the candidate keeps the tokens that it has after the context."""

    def requests(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        text = f"{item.context} {item.texts[label]}"
        joined = how.encode(text)
        after = tokens_in(text, joined, [(len(item.context) + 1, len(text))])
        if not after:
            raise Skip("no token to score")
        mark = scored_positions(joined)[0]
        alone = (*joined.ids[:mark], *joined.ids[after[0] :])
        lost = (
            0 if mark else 1
        )  # without a first-token mark the candidate's own first token has nothing before it
        if len(alone) <= max(1, mark):
            raise Skip("no token to score")
        return [CausalTokens(joined.ids, after[0] + lost), CausalTokens(alone, max(1, mark))]


class ContextGivenSentence(Summed):
    """The context's tokens masked one at a time, the candidate always visible; sum of
    log-probabilities."""

    def requests(self, item: Cat, label: str, how: Scoring) -> Sequence[Request]:
        encoding = how.encode(item.context, item.texts[label])
        positions = [
            position for position in scored_positions(encoding) if not encoding.second[position]
        ]
        return [one_at_a_time(encoding, positions, how.within_word)]


class SummedBlank(Summed, FillBlank):
    """The filler as a whole."""


class SummedTokens(Summed, SentenceTokens):
    """The filled sentence as a whole."""


class SummedText(Summed, SentenceText):
    """The filled sentence as a whole, from text."""


def total(answer: Answer) -> float:
    return sum(answer.column("logprob"))


def mean(values: Iterable[float]) -> float:
    row = list(values)
    return sum(row) / len(row)


Choice = tuple[frozenset[str], Rule]
_MASKED, _CAUSAL, _TEXT = (
    frozenset({"masked-tokens"}),
    frozenset({"causal-tokens"}),
    frozenset({"whole-text"}),
)
_FOLLOWS: Sequence[Choice] = [(frozenset({"follows"}), FollowsContext())]

RULES: Mapping[tuple[str, str], Sequence[Choice]] = {
    ("cat-likelihood", "intrasentence"): [
        (_MASKED, FillBlank()),
        (_CAUSAL, SentenceTokens()),
        (_TEXT, SentenceText()),
    ],
    ("cat-likelihood", "intersentence"): _FOLLOWS,
    ("cat-sum-likelihood", "intrasentence"): [
        (_MASKED, SummedBlank()),
        (_CAUSAL, SummedTokens()),
        (_TEXT, SummedText()),
    ],
    ("cat-sum-likelihood", "intersentence"): _FOLLOWS,
    ("cat-pseudo-likelihood", "intrasentence"): [
        (_MASKED, ContextGivenFiller()),
        (_CAUSAL, SentenceTokens()),
        (_TEXT, SentenceText()),
    ],
    ("cat-pseudo-likelihood", "intersentence"): [
        (_MASKED, ContextGivenSentence()),
        (_CAUSAL, RatioTokens()),
        (_TEXT | {"continuation"}, RatioText()),
    ],
}
"""For each measure and task the kinds of request a rule needs; the first that a model supports is
taken."""
