"""What encode promises of any text: nothing lost, nothing outside, special tokens apart, spans that
tile own every token once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, trainers
from transformers import PreTrainedTokenizerFast

from stereometer.core.methods.declared import Scoring
from stereometer.core.methods.spans import scored_positions, tokens_in
from stereometer.core.methods.two_sentences import unmodified
from stereometer.core.types import Encoding, Skip
from stereometer.kinds.pairs.items import Pair
from stereometer.models.local.tokens import Tokens
from tests.builders.models.items import CAFE, EMOJI, FAMILY, TEN_PIECES
from tests.builders.models.reference import Reference, Unscorable, owned, shared_ids, shared_words
from tests.builders.models.vocabularies import VOCABULARIES

CAUSAL = ("has-bos", "has-eos", "has-neither", "adds-bos", "adds-both")
MASKED = [name for name in VOCABULARIES if name not in CAUSAL]
PIECES = [
    "the",
    "The",
    "cook",
    "is",
    "n't",
    TEN_PIECES,
    EMOJI,
    FAMILY,
    CAFE,
    "é",
    "ß",
    "İ",
    "善",
    "١",
    " ",
    "  ",
    "\t",
    "\n",
    ".",
    "...",
    ",",
    "'",
    "’",
    "-",
    '"',
    "(",
    "_",
    "\u200b",
    "\xa0",
]

texts = st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text(max_size=20))
sentences = st.lists(
    st.sampled_from([piece for piece in PIECES if piece.strip()]), min_size=1, max_size=10
).map(" ".join)
every_tokenizer = pytest.mark.parametrize("name", VOCABULARIES)
quick = settings(max_examples=40, deadline=None)


@cache
def tokens(name: str) -> Tokens:
    return Tokens(VOCABULARIES[name].make(), name in CAUSAL, 10**6)


@cache
def reference(name: str) -> Reference:
    tokenizer, first = tokens(name).tokenizer, VOCABULARIES[name].first
    return Reference(
        "causal" if name in CAUSAL else "masked",
        None,
        tokenizer,
        10**6,
        tokenizer.convert_tokens_to_ids(first) if first else None,
    )


def outcome(ask: Callable[[], Any]) -> Any:
    """What is given, or the reason why nothing is."""
    try:
        return ask()
    except (Skip, Unscorable) as reason:
        return str(reason)


def joined(words: Sequence[Any]) -> list[bool | None]:
    """Of each token whether it goes on with the word of the one before; None for a special one."""
    return [
        None if word is None else at > 0 and words[at - 1] == word for at, word in enumerate(words)
    ]


def cuts(text: str, encoding: Encoding, chosen: list[int]) -> list[tuple[int, int]]:
    """Spans that tile the text, cut where tokens begin."""
    starts = {encoding.offsets[at][0] for at in scored_positions(encoding)} - {0, len(text)}
    places = [0, *sorted({one % (len(text) + 1) for one in chosen} & starts), len(text)]
    return list(pairwise(places))


@every_tokenizer
@quick
@given(text=texts)
def test_a_text_is_read_as_its_tokenizer_reads_it(name: str, text: str) -> None:
    found, wanted = tokens(name).encode(text), reference(name).read(text)
    assert (found.ids, found.offsets) == (wanted.ids, wanted.offsets)
    assert joined(found.words) == joined(wanted.words)


@every_tokenizer
@quick
@given(text=texts)
def test_offsets_lie_in_the_text_and_special_tokens_have_none(name: str, text: str) -> None:
    found = tokens(name).encode(text)
    assert len(found.ids) == len(found.offsets) == len(found.words)
    for word, (start, end) in zip(found.words, found.offsets, strict=True):
        assert 0 <= start <= end <= len(text)
        assert word is not None or (start, end) == (0, 0)


@every_tokenizer
@quick
@given(text=texts, chosen=st.lists(st.integers(0, 60), max_size=4))
def test_spans_that_tile_a_text_own_every_token_once(
    name: str, text: str, chosen: list[int]
) -> None:
    found = tokens(name).encode(text)
    owners = outcome(
        lambda: [at for span in cuts(text, found, chosen) for at in tokens_in(text, found, [span])]
    )
    if owners == "token-boundary":
        return
    at_the_end = [at for at in scored_positions(found) if not text[found.offsets[at][0] :].strip()]
    assert sorted({*owners, *at_the_end}) == scored_positions(found)
    assert len(owners) == len(set(owners))


@every_tokenizer
@quick
@given(
    text=texts, edges=st.lists(st.integers(0, 40), min_size=2, max_size=4, unique=True).map(sorted)
)
def test_a_span_owns_the_tokens_whose_visible_characters_it_holds(
    name: str, text: str, edges: list[int]
) -> None:
    spans = [
        (min(a, len(text)), min(b, len(text)))
        for a, b in zip(edges[::2], edges[1::2], strict=False)
    ]
    spans = [
        (a, b) for a, b in spans if text[a:b].strip() == text[a:b] != ""
    ]  # fillers and words neither begin nor end with a space
    found, wanted = tokens(name).encode(text), reference(name).read(text)
    assert outcome(lambda: tokens_in(text, found, spans)) == outcome(lambda: owned(wanted, spans))


@pytest.mark.parametrize("name", MASKED)
@quick
@given(first=texts, second=texts)
def test_two_texts_keep_apart(name: str, first: str, second: str) -> None:
    found, alone = tokens(name).encode(first, second), tokens(name)
    assert (
        len(found.ids)
        == len(found.offsets)
        == len(found.words)
        == len(found.segments)
        == len(found.second)
    )
    for text, part in ((first, False), (second, True)):
        places = [at for at in scored_positions(found) if found.second[at] is part]
        single = alone.encode(text)
        assert [found.ids[at] for at in places] == [
            single.ids[at] for at in scored_positions(single)
        ]
        assert all(0 <= found.offsets[at][0] <= found.offsets[at][1] <= len(text) for at in places)


@pytest.mark.parametrize("name", ["has-bos", "adds-both"])
def test_two_texts_of_a_causal_model_keep_apart(name: str) -> None:
    found = tokens(name).encode("The cook.", "He left.")
    assert len(found.ids) == len(found.words) == len(found.segments) == len(found.second)


@every_tokenizer
@quick
@given(more=sentences, less=sentences)
def test_what_two_sentences_share_is_what_the_slow_way_shares(
    name: str, more: str, less: str
) -> None:
    slow, pair = reference(name), Pair("p", more, less, "x")
    words = outcome(
        lambda: tuple(
            shared for _, shared in unmodified(pair, Scoring("sound", tokens(name).encode))
        )
    )
    assert words == outcome(lambda: shared_words(slow.read(more), slow.read(less)))
    ids = tuple(shared for _, shared in unmodified(pair, Scoring("paper", tokens(name).encode)))
    assert ids == shared_ids(slow.read(more), slow.read(less))


@every_tokenizer
@quick
@given(more=sentences, less=sentences)
def test_the_released_way_shares_equal_ids(name: str, more: str, less: str) -> None:
    found = unmodified(Pair("p", more, less, "x"), Scoring("paper", tokens(name).encode))
    ids = [[encoding.ids[at] for at in positions] for encoding, positions in found]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("name", ["wordpiece-uncased", "has-bos"])
def test_a_lone_surrogate_is_skipped_or_read(name: str) -> None:
    assert outcome(lambda: tokens(name).encode("The \ud800 cook"))


def test_a_tokenizer_that_takes_a_text_for_one_word_has_words_all_the_same() -> None:
    """Gemma's layout: the space becomes a mark before anything is parted, and nothing is."""
    built = Tokenizer(models.BPE())
    built.normalizer = normalizers.Replace(" ", "\u2581")
    built.train_from_iterator(
        ["the cat sat"], trainers.BpeTrainer(vocab_size=12, show_progress=False)
    )
    found = Tokens(PreTrainedTokenizerFast(tokenizer_object=built), True, 100, 100, 1).encode(
        "the cat sat"
    )
    by_word: dict[Any, str] = {}
    for word, (start, end) in zip(found.words, found.offsets, strict=True):
        by_word[word] = by_word.get(word, "") + "the cat sat"[start:end]
    assert [text.strip() for text in by_word.values()] == ["the", "cat", "sat"]
