"""On the released items, measures ask for exactly what the slow way asks: which copy, which
position, which token.

A number for every question stands in for a model: no weights are needed to see whether the
questions are the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from zlib import crc32

import pytest

from stereometer.core.types import (
    Abilities,
    Answer,
    CausalTokens,
    Encoding,
    MaskedTokens,
    ModelCard,
    Request,
)
from stereometer.kinds.cats.files import read_cats
from stereometer.kinds.pairs.files import read_pairs
from stereometer.models.local.tokens import Tokens
from tests.builders.models import agreement
from tests.builders.models.agreement import assert_agree
from tests.builders.models.items import intra
from tests.builders.models.reference import Reading, Reference
from tests.builders.models.vocabularies import VOCABULARIES
from tests.conftest import released

TOKENIZERS = {
    "real-bert": "masked",
    "byte-level": "masked",
    "unigram": "masked",
    "unigram-segments": "masked",
    "has-bos": "causal",
    "has-neither": "causal",
}
MASKED = [
    ("cat-likelihood", "paper"),
    ("cat-likelihood", "sound"),
    ("cat-pseudo-likelihood", "paper"),
    ("cat-pseudo-likelihood", "sound"),
]
CATS = {"masked": MASKED, "causal": MASKED[2:]}
PAIRS = {
    "masked": [
        ("pair-likelihood", "paper"),
        ("pair-likelihood", "sound"),
        ("pair-modified-likelihood", "sound"),
    ],
    "causal": [("pair-sentence-likelihood", "sound"), ("pair-after-change-likelihood", "sound")],
}


def number(*question: object) -> float:
    return -(crc32(repr(question).encode()) % 10007) / 1000


def copy_of(ids: Sequence[int], hidden: Sequence[int]) -> tuple[int, ...]:
    return tuple(-1 if at in hidden else one for at, one in enumerate(ids))


class Questions:
    """A backend that answers every question with its number."""

    def __init__(self, name: str) -> None:
        self.family = TOKENIZERS[name]
        self.tokens = Tokens(VOCABULARIES[name].make(), self.family == "causal", 10**6)
        self.abilities = Abilities(
            frozenset({f"{self.family}-tokens"}), mask=self.tokens.tokenizer.mask_token
        )
        self.card = ModelCard("questions", self.family, "questions@1", "none")

    def encode(self, text: str, second: str | None = None) -> Encoding:
        return self.tokens.encode(text, second)

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.tokens.tokenizer.decode(list(ids)))

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            yield key, Answer(({"logprob": array("d", self.row(request))},))

    def row(self, request: Request) -> list[float]:
        match request:
            case MaskedTokens(ids, steps, segments):
                return [
                    number(copy_of(ids, hidden), any(segments), at, ids[at]) for hidden, at in steps
                ]
            case CausalTokens(ids, start):
                return [number(ids[:at], ids[at]) for at in range(start, len(ids))]
        raise TypeError(request.kind)


class SlowQuestions(Reference):
    """The reference, with the same numbers."""

    def hidden(self, reading: Reading, hide: Sequence[int], at: int) -> float:
        return number(copy_of(reading.ids, hide), any(reading.types or ()), at, reading.ids[at])

    def forward(self, ids: Sequence[int]) -> list[float]:
        return [number(tuple(ids[:at]), ids[at]) for at in range(1, len(ids))]

    def log_probabilities(self, inputs: dict[str, Any]) -> Any:
        return AtTheMask(inputs["input_ids"][0].tolist(), self.tokenizer.mask_token_id)


class AtTheMask:
    """The numbers of all tokens at the first mask of a copy."""

    def __init__(self, ids: list[int], mask: int) -> None:
        self.place = ids.index(mask)
        self.copy = copy_of(ids, [self.place])

    def __getitem__(self, asked: tuple[int, int]) -> float:
        assert asked[0] == self.place
        return number(self.copy, False, *asked)


@cache
def both(name: str) -> tuple[Questions, SlowQuestions]:
    quick = Questions(name)
    tokenizer, first = quick.tokens.tokenizer, VOCABULARIES[name].first
    return quick, SlowQuestions(
        quick.family,
        None,
        tokenizer,
        10**6,
        tokenizer.convert_tokens_to_ids(first) if first else None,
    )


@cache
def cats() -> Sequence[Any]:
    """Some of either task, and of those whose blank is glued to something."""
    found = read_cats(released("stereoset/dev.json.gz"))
    glued = [
        cat
        for cat in found
        if any("BLANK" in word and word != "BLANK" for word in cat.context.split())
    ]
    odd = [
        cat
        for cat in found
        if cat.context.count("BLANK") > 1
        or cat.context.endswith(("sometimes.BLANK", "BLANK.boring", "BLANK!p"))
        or "BLANKed" in cat.context
    ]
    assert len(odd) == 6
    return [*found[::80], *glued[::30], *odd]


@cache
def pairs() -> Sequence[Any]:
    return read_pairs(released("crows_pairs/crows_pairs_anonymized.csv"))[::15]


@pytest.mark.long
@pytest.mark.parametrize("name", TOKENIZERS)
def test_stereoset_asks_what_the_slow_way_asks(name: str) -> None:
    quick, slow = both(name)
    for measure, variant in CATS[quick.family]:
        scores = assert_agree(measure, variant, quick, slow, cats())
        cannot_be_asked = ("several blanks", "the model cannot say whether a sentence follows")
        assert sum(score.skipped not in (None, *cannot_be_asked) for score in scores) < 0.05 * len(
            scores
        )


def steps(name: str, context: str, word: str) -> list[list[str]]:
    """The tokens of every copy of a filler's steps, as the vocabulary writes them, the token asked
    for between brackets."""
    quick, _ = both(name)
    item = intra("i", context, word, "shy", "round")
    requests = agreement.bound("cat-likelihood", "paper", quick).plan(item)["stereotype"]
    tokenizer = quick.tokens.tokenizer
    copies = []
    for request in requests:
        (((place,), _),) = request.steps
        tokens = tokenizer.convert_ids_to_tokens(list(request.ids))
        copies.append([*tokens[:place], f"<{tokens[place]}>", *tokens[place + 1 :]])
    return copies


def test_paper_reads_the_whole_text_anew_at_every_step() -> None:
    """The first piece of a filler begins no word on its own, and begins one in the text."""
    copies = steps("byte-level", "The chess player was BLANK.", "hispanic")
    before = ["<s>", "The", "\u0120che", "ss", "\u0120play", "er", "\u0120was"]
    assert copies[0] == [*before, "<h>", ".", "</s>"]
    assert copies[1] == [*before, "\u0120h", "<is>", ".", "</s>"]
    assert copies[2] == [*before, "\u0120his", "<p>", ".", "</s>"]


@pytest.mark.parametrize(
    ("name", "word"), [("byte-level", "hispanic"), ("unigram-segments", "jolly")]
)
def test_a_step_reads_decoded_text_and_not_the_pieces_ids(name: str, word: str) -> None:
    """As RoBERTa and ALBERT read: at the second step the first piece has become another token, or,
    where it was a bare space, none."""
    context = "The chess player was BLANK."
    quick, _ = both(name)
    tokenizer, mask = quick.tokens.tokenizer, quick.abilities.mask
    first, second = tokenizer(word, add_special_tokens=False)["input_ids"][:2]
    again = tokenizer(context.replace("BLANK", f"{tokenizer.decode([first])}{mask}"))["input_ids"]
    spliced = tokenizer(context.replace("BLANK", f"{mask}"))["input_ids"]
    spliced.insert(spliced.index(tokenizer.mask_token_id), first)
    item = intra("i", context, word, "shy", "round")
    request = agreement.bound("cat-likelihood", "paper", quick).plan(item)["stereotype"][1]
    (((place,), at),) = request.steps
    assert place == at == again.index(tokenizer.mask_token_id)
    assert request.ids[at] == second
    hidden = [*request.ids[:at], tokenizer.mask_token_id, *request.ids[at + 1 :]]
    assert hidden == again != spliced


def test_paper_scores_the_word_that_is_glued_to_the_blank_and_the_first_of_two_masks() -> None:
    copies = steps("real-bert", "The cook BLANKed.", "bak")
    assert copies == [["[CLS]", "the", "cook", "<baked>", "ed", ".", "[SEP]"]]
    twice = steps("real-bert", "A BLANK cook is BLANK.", "loud")
    assert twice == [["[CLS]", "a", "<loud>", "cook", "is", "[MASK]", ".", "[SEP]"]]


@pytest.mark.parametrize("name", TOKENIZERS)
def test_crows_pairs_asks_what_the_slow_way_asks(name: str) -> None:
    quick, slow = both(name)
    for measure, variant in PAIRS[quick.family]:
        scores = assert_agree(measure, variant, quick, slow, pairs())
        assert sum(score.skipped is None for score in scores) > 0.95 * len(scores)
