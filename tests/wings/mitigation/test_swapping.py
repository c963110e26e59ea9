"""Counterfactuals: they come back, keep case and punctuation, and know her from her."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core import catalog
from stereometer.wings.mitigation.attribute import load
from stereometer.wings.mitigation.swapping import Swaps, article

GENDER, RACE = Swaps(load("gender")), Swaps(load("race"))
CASES: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str.capitalize)

fillers = st.sampled_from(
    [
        "the",
        "cat",
        ",",
        "sat",
        ".",
        "on",
        "(",
        "a",
        ")",
        "mat",
        ";",
        "Anna's",
        "1901",
        "!",
        "day-long",
        "...",
    ]
)
list_words = st.tuples(st.sampled_from(GENDER.attribute.words), st.sampled_from(CASES)).map(
    lambda pair: pair[1](pair[0])
)
texts = st.lists(fillers | list_words, min_size=1, max_size=12).map(" ".join)


def exchanged(text: str) -> str | None:
    return GENDER.swapped(text, "female", "male")


@given(texts)
def test_the_counterfactual_of_the_counterfactual_is_the_text(text: str) -> None:
    other = exchanged(text)
    if other is not None:
        assert other != text
        assert exchanged(other) == text


@given(texts)
def test_everything_but_list_words_stays(text: str) -> None:
    other = exchanged(text)
    if other is not None:
        assert _rest(other) == _rest(text)


def _rest(text: str) -> list[str]:
    """What stands between list words, those of one spelling aside."""
    spots = list(GENDER.spots(text))
    ends = [0, *(spot.end for spot in spots)]
    starts = [*(spot.start for spot in spots), len(text)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


FRAMES = ("{}", "It is {}.", '"{}," they said', "We saw {}; it rained")


@pytest.mark.parametrize("word", GENDER.attribute.words)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("frame", FRAMES)
def test_every_list_word_swaps_and_comes_back(
    word: str, case: Callable[[str], str], frame: str
) -> None:
    text = frame.format(case(word))
    other = exchanged(text)
    assert other is not None
    assert other != text
    assert exchanged(other) == text


@pytest.mark.parametrize("word", RACE.attribute.words)
@pytest.mark.parametrize("case", CASES)
def test_so_does_every_word_of_three_classes(word: str, case: Callable[[str], str]) -> None:
    for frame in FRAMES:
        text = frame.format(case(word))
        versions, label = RACE.versions(text), RACE.label(text)
        assert versions is not None
        assert label is not None
        assert len(set(versions.values())) == 3
        for name, other in versions.items():
            assert RACE.label(other) == name
            assert name == label or RACE.swapped(other, name, label) == text


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("She met her.", "He met him."),
        ("She met her and left.", "He met him and left."),
        ("She read her book.", "He read his book."),
        ("Her red book is hers.", "His red book is his."),
        ("The book is his, he said.", "The book is hers, she said."),
        ("HE SAW HIM", "SHE SAW HER"),
        ("Mr. Smith's father", "Mrs. Smith's mother"),
        ("he's a king", "she's a queen"),
    ],
)
def test_words_by_role_and_case(text: str, other: str) -> None:
    assert exchanged(text) == other


@pytest.mark.parametrize("text", ["gave him flowers", "The cat sat.", "man-made", "hElLo wOmAn"])
def test_what_would_not_come_back_has_no_counterfactual(text: str) -> None:
    assert exchanged(text) is None


def test_three_classes_have_a_version_each() -> None:
    versions = RACE.versions("Black people in LAGOS, and african art")
    assert versions == {
        "african": "Black people in LAGOS, and african art",
        "asian": "Asian people in BEIJING, and asian art",
        "european": "White people in BERLIN, and european art",
    }


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("An African city", "A European city"),
        ("AN AFRICAN CITY", "A EUROPEAN CITY"),
        ("He is an Egyptian, an old one.", "He is an English, an old one."),
        ("Nairobi, a Kenyan town", "Rome, an Italian town"),
        ("a vitamin-a African fruit", "a vitamin-a European fruit"),
    ],
)
def test_an_article_follows_its_word(text: str, other: str) -> None:
    assert RACE.swapped(text, "african", "european") == other
    assert RACE.swapped(other, "african", "european") == text


def test_an_article_that_does_not_suit_makes_no_counterfactual_that_cannot_be_undone() -> None:
    assert RACE.swapped("a African city", "african", "european") is None


def test_other_languages_have_their_own_articles() -> None:
    attribute = replace(RACE.attribute, language="hu")
    assert Swaps(attribute).swapped("a Kenyan", "african", "european") == "a Italian"


@pytest.mark.parametrize(
    ("article_", "words"),
    [
        ("an", "African Asian Indian English Irish old uncle Uzbek uninvited heiress hour aunt"),
        ("a", "European Kenyan Ugandan Ukrainian Uruguayan unit user one-eyed Utah woman king"),
    ],
)
def test_articles_by_sound(article_: str, words: str) -> None:
    assert {word: article(word) for word in words.split()} == dict.fromkeys(words.split(), article_)


race_words = st.tuples(st.sampled_from(RACE.attribute.words), st.sampled_from(CASES)).map(
    lambda pair: pair[1](pair[0])
)


@given(st.lists(st.sampled_from(["a", "an", "A", "An", "AN", "the"]) | race_words, max_size=8))
def test_counterfactuals_with_articles_come_back(words: list[str]) -> None:
    text = " ".join(words)
    other = RACE.swapped(text, "african", "european")
    if other is not None:
        assert other != text
        assert RACE.swapped(other, "african", "european") == text


@pytest.mark.parametrize("name", catalog.names("attribute"))
def test_versions_of_every_row_of_a_shipped_attribute_come_back(name: str) -> None:
    swaps = Swaps(load(name))
    for row in (*swaps.attribute.rows, *swaps.attribute.held_out):
        versions = swaps.versions(f"It was {row[0]}.")
        assert versions is not None, row
        assert list(versions.values()) == [f"It was {word}." for word in row]


def test_labels_know_training_words_from_held_out_ones() -> None:
    assert GENDER.label("She sang.") == "female"
    assert GENDER.label("She saw him.") is None
    assert GENDER.label("The cat sang.") is None
    assert GENDER.label("The queen sang.", held_out=True) == "female"
    assert GENDER.label("The queen sang.", held_out=False) is None
    assert GENDER.label("She is a queen.", held_out=True) is None
    assert GENDER.label("She is a queen.") == "female"
