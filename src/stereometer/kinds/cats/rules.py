"""How a candidate of a CAT is scored: the requests it needs, and how their rows become one number.

The table RULES is the whole of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp
from string import punctuation
from typing import NamedTuple

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


# ----------------------------------------------------------------------------------- what is asked


def sentence_text(item: Cat, label: str, how: Scoring) -> Sequence[Request]:
    """The whole filled sentence."""
    return [WholeText(filled(item, label, how.variant)[0])]


def sentence_tokens(item: Cat, label: str, how: Scoring) -> Sequence[Request]:
    """From token ids: in one pass after the first-token mark, or (`paper`) the first token after it
    and the rest without it."""
    encoding = how.encode(filled(item, label, how.variant)[0])
    first = scored_positions(encoding)[:1]
    if not first or len(encoding.ids) < 2:
        raise Skip("no token to score")
    start = max(1, first[0])
    if how.variant == "sound" or first[0] == 0:
        return [CausalTokens(encoding.ids, start)]
    return [CausalTokens(encoding.ids[: start + 1], start), CausalTokens(encoding.ids[start:], 1)]


def filler_pieces(item: Cat, label: str, how: Scoring) -> Sequence[Request]:
    """The filler revealed piece by piece from the left.

    `sound`: every piece still to come is masked. `paper`: one mask stands for the next piece and
    the pieces after it are absent; at each step the pieces before it are written as text and the
    whole text is encoded again.
    """
    if item.filler(label) is None:
        raise Skip(NOT_FILLED)
    if how.variant == "paper":
        return _absent(item, label, how)
    if item.context.count("BLANK") != 1:
        raise Skip("several blanks")
    text, spans = filled(item, label, how.variant)
    encoding = how.encode(text)
    pieces = tokens_in(text, encoding, spans)
    if not pieces:
        raise Skip(NO_FILLER)
    return [left_to_right(encoding, pieces)]


def _absent(item: Cat, label: str, how: Scoring) -> Sequence[Request]:
    if how.mask is None:
        raise Skip("the model has no mask token to put into the blank")
    mask, pieces = (
        [encoding.ids[at] for at in scored_positions(encoding)]
        for encoding in map(how.encode, (how.mask, released_filler(item, label)))
    )
    if not pieces:
        raise Skip(NO_FILLER)
    requests = []
    for at, piece in enumerate(pieces):
        text = item.context.replace("BLANK", _written(pieces[:at], how) + how.mask)
        hole = how.encode(how.before, text) if how.before else how.encode(text)
        requests.append(_at_mask(hole, mask, piece, in_place=bool(how.before)))
    return requests


def released_filler(item: Cat, label: str) -> str:
    """What the authors' code takes for the filler: the candidate's word in the place of the last
    word with BLANK, less its punctuation. Text that is glued to the blank belongs to it."""
    places = [at for at, word in enumerate(item.context.split(" ")) if "BLANK" in word]
    words = item.texts[label].split(" ")
    if places[-1] >= len(words):
        raise Skip(NOT_FILLED)
    return words[places[-1]].translate(NO_PUNCTUATION)


def _written(pieces: Sequence[int], how: Scoring) -> str:
    if not pieces:
        return ""
    if how.decode is None:
        raise Skip("the model cannot write its tokens as text")
    return how.decode(pieces)


def _at_mask(hole: Encoding, mask: Sequence[int], piece: int, in_place: bool) -> MaskedTokens:
    """A piece in the place of the first mask: where a context has two blanks, the second stays
    masked."""
    places = [at for at, token in enumerate(hole.ids) if [token] == mask]
    if not places:
        raise Skip("the mask cannot be found in the context")
    at = places[0]
    ids = (*hole.ids[:at], piece, *hole.ids[at + 1 :])
    return MaskedTokens(ids, (((at,), at),), hole.segments, in_place)


def context_given_filler(item: Cat, label: str, how: Scoring) -> Sequence[Request]:
    """Every token but the filler's masked one at a time, the filler always visible."""
    text, spans = filled(item, label, how.variant)
    encoding = how.encode(text)
    fillers = set(tokens_in(text, encoding, spans))
    if not fillers:
        raise Skip(NO_FILLER)
    others = [position for position in scored_positions(encoding) if position not in fillers]
    return [one_at_a_time(encoding, others, how.within_word)]


def context_given_sentence(item: Cat, label: str, how: Scoring) -> Sequence[Request]:
    """The context's tokens masked one at a time, the candidate always visible."""
    encoding = how.encode(item.context, item.texts[label])
    context = [position for position in scored_positions(encoding) if not encoding.second[position]]
    return [one_at_a_time(encoding, context, how.within_word)]


def follows_context(item: Cat, label: str, how: Scoring) -> Sequence[Request]:
    return [Follows(item.context, item.texts[label])]


def candidate_text(item: Cat, label: str, how: Scoring) -> Sequence[Request]:
    """After the context and alone, with the space that stands before it after the context, so that
    it has the same tokens."""
    return [Continuation(item.context, item.texts[label]), WholeText(f" {item.texts[label]}")]


def candidate_tokens(item: Cat, label: str, how: Scoring) -> Sequence[Request]:
    """From token ids: alone the candidate keeps the tokens that it has after the context."""
    text = f"{item.context} {item.texts[label]}"
    joined = how.encode(text)
    after = tokens_in(text, joined, [(len(item.context) + 1, len(text))])
    if not after:
        raise Skip("no token to score")
    mark = scored_positions(joined)[0]
    alone = (*joined.ids[:mark], *joined.ids[after[0] :])
    # Without a first-token mark the candidate's own first token has nothing before it.
    lost = 0 if mark else 1
    if len(alone) <= max(1, mark):
        raise Skip("no token to score")
    return [CausalTokens(joined.ids, after[0] + lost), CausalTokens(alone, max(1, mark))]


# ----------------------------------------------------------------------------- how rows are reduced


def logprobs(answers: Sequence[Answer]) -> list[float]:
    return [value for answer in answers for value in answer.column("logprob")]


def total(answers: Sequence[Answer], variant: Variant) -> float:
    return sum(sum(answer.column("logprob")) for answer in answers)


def mean(answers: Sequence[Answer], variant: Variant) -> float:
    """Per token."""
    row = logprobs(answers)
    return sum(row) / len(row)


def mean_of_pieces(answers: Sequence[Answer], variant: Variant) -> float:
    """Of log-probabilities, or (`paper`) of probabilities."""
    row = [exp(of) if variant == "paper" else of for of in logprobs(answers)]
    return sum(row) / len(row)


def odds(answers: Sequence[Answer], variant: Variant) -> float:
    """The log-odds, or (`paper`) the probability in single precision, which is the same for
    candidates that are both nearly certain."""
    found = float(answers[0].column("logodds")[0])
    return single_probability(found) if variant == "paper" else found


def single_probability(logodds: float) -> float:
    """As a softmax over two outputs gives it in float32: the larger output is subtracted first."""
    larger, smaller = np.exp(np.array([0.0, -abs(logodds)], dtype=np.float32))
    return float((larger if logodds >= 0 else smaller) / (larger + smaller))


def ratio(answers: Sequence[Answer], variant: Variant) -> float:
    """log p(candidate | context) - log p(candidate), tokens of the candidate only."""
    return total(answers[:1], variant) - total(answers[1:], variant)


# --------------------------------------------------------------------------------------- the table


class CatRule(NamedTuple):
    """What a model must answer, the requests of a candidate, and how their rows become one
    number."""

    needs: frozenset[str]
    requests: Callable[[Cat, str, Scoring], Sequence[Request]]
    reduce: Callable[[Sequence[Answer], Variant], float]
    hides: bool = False
    """Whether `--within-word` changes it."""


MASKED, CAUSAL, TEXT = (
    frozenset({kind}) for kind in ("masked-tokens", "causal-tokens", "whole-text")
)
FOLLOWS = [CatRule(frozenset({"follows"}), follows_context, odds)]
RULES: Mapping[str, Mapping[str, Sequence[CatRule]]] = {
    "cat-likelihood": {
        "intrasentence": [
            CatRule(MASKED, filler_pieces, mean_of_pieces),
            CatRule(CAUSAL, sentence_tokens, mean),
            CatRule(TEXT, sentence_text, mean),
        ],
        "intersentence": FOLLOWS,
    },
    "cat-sum-likelihood": {
        "intrasentence": [
            CatRule(MASKED, filler_pieces, total),
            CatRule(CAUSAL, sentence_tokens, total),
            CatRule(TEXT, sentence_text, total),
        ],
        "intersentence": FOLLOWS,
    },
    "cat-pseudo-likelihood": {
        "intrasentence": [
            CatRule(MASKED, context_given_filler, total, hides=True),
            CatRule(CAUSAL, sentence_tokens, mean),
            CatRule(TEXT, sentence_text, mean),
        ],
        "intersentence": [
            CatRule(MASKED, context_given_sentence, total, hides=True),
            CatRule(CAUSAL, candidate_tokens, ratio),
            CatRule(TEXT | {"continuation"}, candidate_text, ratio),
        ],
    },
}
"""By measure and task; the first rule that a model supports is taken."""
