"""From characters to tokens, and what two sentences share."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stereometer.core.methods.spans import (
    one_at_a_time,
    scored_positions,
    shared_ids,
    shared_words,
    tokens_in,
)
from stereometer.core.types import Encoding, Skip
from stereometer.models.baselines.fake import Fake
from tests.builders import reference
from tests.strategies import MODERATE, SENTENCES, TEXT, WORDS

ENCODE = Fake().encode


def encoding(text: str, *pieces: tuple[int, int] | None) -> Encoding:
    """Tokens that stand for these characters; None is a special token."""
    offsets = tuple(piece or (0, 0) for piece in pieces)
    return Encoding(
        tuple(range(len(pieces))),
        offsets,
        tuple(None if piece is None else index for index, piece in enumerate(pieces)),
    )


# ---------------------------------------------------------------------------------------- tokens_in


def test_tokens_belong_to_the_span_of_their_first_character_that_is_no_space() -> None:
    """As byte-level tokenizers have them: the space belongs to the token after it."""
    text = "The cook sang."
    found = encoding(text, None, (0, 3), (3, 8), (8, 13), (13, 14), None)
    assert tokens_in(text, found, [(4, 8)]) == [2]
    assert tokens_in(text, found, [(0, 3), (9, 14)]) == [1, 3, 4]


def test_special_tokens_are_never_found_even_at_the_start() -> None:
    assert tokens_in("cook", encoding("cook", None, (0, 4), None), [(0, 4)]) == [1]


@pytest.mark.parametrize(
    ("piece", "span"), [((0, 8), (4, 8)), ((4, 10), (4, 8)), ((3, 9), (4, 8)), ((0, 9), (4, 8))]
)
def test_a_token_across_an_edge_skips_the_item(
    piece: tuple[int, int], span: tuple[int, int]
) -> None:
    with pytest.raises(Skip, match="token-boundary"):
        tokens_in("The cooksang.", encoding("The cooksang.", piece), [span])


def test_a_space_after_the_span_is_no_crossing() -> None:
    assert tokens_in("cook sang", encoding("cook sang", (0, 5), (5, 9)), [(0, 4)]) == [0]


def test_two_spans_of_the_same_filler_are_both_found() -> None:
    text = "calm and calm"
    assert tokens_in(text, ENCODE(text), [(0, 4), (9, 13)]) == [0, 2]


@MODERATE
@given(TEXT, st.data())
def test_on_word_edges_every_token_is_inside_or_outside(text: str, data: st.DataObject) -> None:
    found = ENCODE(text)
    assume(found.ids)
    first = data.draw(st.integers(0, len(found.ids) - 1))
    last = data.draw(st.integers(first, len(found.ids) - 1))
    span = (found.offsets[first][0], found.offsets[last][1])
    assert tokens_in(text, found, [span]) == list(range(first, last + 1))


# ------------------------------------------------------------------------------------- shared_words


def words(text: str) -> list[str]:
    return re.findall(r"\w+(?:['’\-]\w+)*|[^\w\s]", text)


@MODERATE
@given(SENTENCES, SENTENCES)
def test_shared_spans_hold_the_same_words_on_both_sides(left: str, right: str) -> None:
    for (a, b), (c, d) in zip(*shared_words(left, right), strict=True):
        assert words(left[a:b]) == words(right[c:d]) != []


@MODERATE
@given(SENTENCES, SENTENCES)
def test_shared_spans_are_in_order_apart_and_whole_words(left: str, right: str) -> None:
    for text, spans in zip((left, right), shared_words(left, right), strict=True):
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(edges)
        starts = {found.start() for found in re.finditer(r"\w+(?:['’\-]\w+)*|[^\w\s]", text)}
        assert {start for start, _ in spans} <= starts


@MODERATE
@given(SENTENCES, SENTENCES)
def test_as_many_words_are_shared_as_can_be_in_order(left: str, right: str) -> None:
    spans, _ = shared_words(left, right)
    assert sum(len(words(left[a:b])) for a, b in spans) == reference.longest_common(
        words(left), words(right)
    )


@MODERATE
@given(st.lists(WORDS, min_size=1, unique=True), st.data())
def test_replacing_one_word_leaves_all_others_shared(parts: list[str], data: st.DataObject) -> None:
    at, sentence = data.draw(st.integers(0, len(parts) - 1)), " ".join(parts) + "."
    other = " ".join([*parts[:at], "zebra", *parts[at + 1 :]]) + "."
    shared = [word for a, b in shared_words(sentence, other)[0] for word in words(sentence[a:b])]
    assert shared == words(" ".join([*parts[:at], *parts[at + 1 :]]) + ".")


def test_replacing_one_word_among_repeated_ones_leaves_all_others_shared() -> None:
    left, right = "round and round and round and round", "round and zebra and round and round"
    assert sum(len(words(left[a:b])) for a, b in shared_words(left, right)[0]) == 6


@MODERATE
@given(TEXT)
def test_a_text_shares_everything_with_itself(text: str) -> None:
    left, right = shared_words(text, text)
    assert left == right
    assert len(left) == (1 if words(text) else 0)


LONG = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
from stereometer.core.methods.spans import shared_words
rest = " ".join(f"word{number}" for number in range(20_000))
print(len(shared_words(f"The old {rest}", f"The young {rest}")[0]))
"""


def test_very_long_sentences_are_aligned_in_little_memory() -> None:
    """One JSON line may hold a million characters."""
    found = subprocess.run(
        [sys.executable, "-c", LONG], capture_output=True, text=True, check=False, timeout=60
    )
    assert found.stdout == "2\n"


def test_nothing_shared_is_nothing() -> None:
    assert shared_words("one two", "three four") == ([], [])


# --------------------------------------------------------------------------------------- shared_ids

IDS = st.lists(st.integers(0, 6), max_size=15)


@MODERATE
@given(IDS, IDS)
def test_shared_positions_hold_the_same_ids_in_order(left: list[int], right: list[int]) -> None:
    first, second = shared_ids(left, right)
    assert [left[at] for at in first] == [right[at] for at in second]
    assert first == sorted(set(first))
    assert second == sorted(set(second))


@MODERATE
@given(st.lists(st.integers(0, 60), min_size=1, unique=True), st.data())
def test_replacing_one_id_leaves_all_others_shared(ids: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(ids) - 1))
    first, second = shared_ids(ids, [*ids[:at], 99, *ids[at + 1 :]])
    assert first == second == [one for one in range(len(ids)) if one != at]


def test_ids_are_aligned_with_difflibs_default_junk_rule_as_the_authors_script_does() -> None:
    """In more than 200 tokens an id that is common is junk to difflib: the script shares less, and
    so does `paper`."""
    assert shared_ids([2, *[1] * 50], [3, *[1] * 50]) == (list(range(1, 51)), list(range(1, 51)))
    assert shared_ids([2, *[1] * 250], [3, *[1] * 250]) == ([], [])


# ------------------------------------------------------------------------------------ one at a time


def test_each_position_is_hidden_in_its_own_copy() -> None:
    found = one_at_a_time(encoding("a b", None, (0, 1), (2, 3), None), [1, 2])
    assert found.ids == (0, 1, 2, 3)
    assert found.steps == (((1,), 1), ((2,), 2))


def test_no_position_is_a_reason() -> None:
    with pytest.raises(Skip, match="no token to score"):
        one_at_a_time(encoding("a", (0, 1)), [])


def test_scored_positions_leave_special_tokens_out() -> None:
    assert scored_positions(encoding("a b", None, (0, 1), (2, 3), None)) == [1, 2]
